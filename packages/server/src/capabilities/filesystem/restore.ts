import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { version, writeErrors } from './fields.ts'

export const restore = defineCapability({
  name: 'filesystem.restore',
  title: 'Restore deleted file',
  version,
  purpose: 'Restore what filesystem.delete deleted.',
  when_to_use:
    'Needs its trash_id, within 7 days. It never replaces anything: if something stands at the old path, move that away first.',
  inputs: z.strictObject({
    trash_id: z.string().min(1).max(64).describe('The trash_id that filesystem.delete answered.'),
  }),
  outputs: z.object({ path: z.string().describe('Where it stands again.') }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a deleted file or folder stands at its old path again', reversible: true },
  ],
  common_patterns: [
    { title: 'Undo a deletion', arguments: { trash_id: 'trash-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['TrashNotFound', 'AlreadyExists', ...writeErrors],
  run: (ctx, { trash_id }) => ctx.files.restore(trash_id),
})
