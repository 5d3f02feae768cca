import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { hostField, version } from './fields.ts'

export const dnsLookup = defineCapability({
  name: 'network.dns_lookup',
  version,
  title: 'DNS lookup',
  purpose: 'Find the addresses that a host name leads to.',
  when_to_use:
    'To see whether a name exists. Requests look names up by themselves. A name that leads inside of the operator’s network reads like one that does not exist.',
  inputs: z.strictObject({ hostname: hostField('The host') }),
  outputs: z.object({
    hostname: z.string().describe('As it was looked up.'),
    addresses: z.array(z.string()),
    total: z.int(),
  }),
  tier: 'autonomous',
  // The servers that know the name notice that somebody asks for it.
  effect: 'immediate',
  side_effects: [{ what: 'that name servers learn of the question', reversible: false }],
  common_patterns: [{ title: 'Look a name up', arguments: { hostname: 'example.org' } }],
  errors: ['HostUnreachable'],
  async run(ctx, { hostname }) {
    const addresses = await ctx.network.lookup(hostname)
    return { hostname, addresses: [...addresses], total: addresses.length }
  },
})
