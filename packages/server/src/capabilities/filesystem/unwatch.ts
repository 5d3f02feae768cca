import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'
import { version, withheldField } from './fields.ts'

export const unwatch = defineCapability({
  name: 'filesystem.unwatch',
  title: 'End file watch',
  side_effects: [{ what: 'events of the watch stop', reversible: true }],
  version,
  purpose: 'End a watch of files.',
  when_to_use: 'Ends what filesystem.watch began.',
  inputs: z.strictObject({
    watch_id: z.string().min(1).max(64).describe('The watch_id that filesystem.watch answered.'),
  }),
  outputs: z.object({ watch_id: z.string(), stopped: z.boolean(), withheld: withheldField }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    { title: 'Stop a watch', arguments: { watch_id: 'watch-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['WatchNotFound'],
  result_bytes_max: smallResult,
  run: async (ctx, { watch_id }) => {
    const { withheld } = await ctx.watches.remove(watch_id)
    return { watch_id, stopped: true, withheld }
  },
})
