import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { processFields, stateField, version } from './fields.ts'

export const list = defineCapability({
  name: 'process.list',
  title: 'List processes',
  version,
  purpose: 'List your processes: those that run, and how the others ended.',
  when_to_use:
    'For the state of one use process.monitor, for its output process.logs. Ended ones are kept for a week.',
  inputs: z.strictObject({
    state: stateField.optional(),
    limit: z.int().min(1).max(100).default(50),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  outputs: z.object({
    processes: z.array(z.object(processFields)),
    total: z.int().describe('Number of matches.'),
    truncated: z.boolean(),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'List running programs', arguments: { state: 'running' } }],
  errors: [],
  async run(ctx, { limit, offset, state }) {
    const { processes, total } = await ctx.processes.list({ state, limit, offset })
    return {
      processes: processes.map(({ agent: _own, ...process }) => process),
      total,
      truncated: offset + processes.length < total,
    }
  },
})
