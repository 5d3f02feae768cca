import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { processFields, processIdField, version } from './fields.ts'

export const monitor = defineCapability({
  name: 'process.monitor',
  title: 'Show process',
  version,
  purpose: 'Show whether a process runs, what it uses and how it ended.',
  when_to_use:
    'Repeat it to wait for a process in the background. For its output use process.logs.',
  inputs: z.strictObject({ process_id: processIdField }),
  outputs: z.object({
    ...processFields,
    duration_ms: z.int().describe('Until now, or until it ended.'),
    now: z
      .object({
        cpu_ms: z.int(),
        memory_bytes: z.int(),
        processes: z.int(),
      })
      .nullable()
      .describe('Resources of the program and its children now; null once it has ended.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    {
      title: 'See whether it is done',
      arguments: { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c' },
    },
  ],
  errors: ['ProcessNotFound'],
  async run(ctx, { process_id }) {
    const { process, now } = await ctx.processes.monitor(process_id)
    const { agent: _own, ...shown } = process
    const until = process.ended_at ? Date.parse(process.ended_at) : ctx.clock.wall()
    return { ...shown, duration_ms: Math.max(0, until - Date.parse(process.started_at)), now }
  },
})
