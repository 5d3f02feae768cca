import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'
import { hostField, version } from './fields.ts'

export const portCheck = defineCapability({
  name: 'network.port_check',
  title: 'Check port',
  destructive: false,
  version,
  purpose: 'Check whether a port of a host accepts a connection; sends nothing.',
  when_to_use:
    'Tells a service that is down from one that answers wrongly. Closed, filtered, unknown and not allowed look the same: open is false.',
  inputs: z.strictObject({
    host: hostField('The host'),
    port: z.int().min(1).max(65_535),
    timeout_seconds: z.int().min(1).max(30).default(5),
  }),
  outputs: z.object({
    host: z.string(),
    port: z.int(),
    open: z.boolean(),
    latency_ms: z.number().nullable().describe('Until it was open; null where it is not.'),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'that the host notices the connection', reversible: false }],
  common_patterns: [
    { title: 'Is the web server up?', arguments: { host: 'example.org', port: 443 } },
  ],
  errors: [],
  result_bytes_max: smallResult,
  preview: ({ host, port }) => ({ kind: 'command', text: `connect to ${host} port ${port}` }),
  async run(ctx, { host, port, timeout_seconds }) {
    const target = { host, port, timeout_ms: timeout_seconds * 1000 }
    const { open, latency_ms } = await ctx.network.connect(target)
    return { host, port, open, latency_ms: open ? latency_ms : null }
  },
})
