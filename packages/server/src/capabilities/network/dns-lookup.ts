import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { hostField, version } from './fields.ts'

export const dnsLookup = defineCapability({
  name: 'network.dns_lookup',
  title: 'Look up DNS name',
  destructive: false,
  version,
  purpose: 'Look up the addresses of a host name.',
  when_to_use:
    'To see whether a port answers use network.port_check. A name inside the operator’s network reads like one that does not exist.',
  inputs: z.strictObject({ hostname: hostField('The host') }),
  outputs: z.object({
    hostname: z.string().describe('As it was looked up.'),
    addresses: z.array(z.string()),
    total: z.int(),
  }),
  tier: 'autonomous',
  // The servers that know the name notice that somebody asks for it.
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'that name servers learn of the question', reversible: false }],
  common_patterns: [{ title: 'Look a name up', arguments: { hostname: 'example.org' } }],
  errors: ['HostUnreachable'],
  preview: ({ hostname }) => ({
    kind: 'command',
    text: `look up the addresses of ${hostname}; its name servers learn of the question`,
  }),
  async run(ctx, { hostname }) {
    const addresses = await ctx.network.lookup(hostname)
    return { hostname, addresses: [...addresses], total: addresses.length }
  },
})
