import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { counted, previewOrNote, textPreview } from '../text-preview.ts'
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
  undo: () => 'Delete it again.',
  common_patterns: [
    { title: 'Undo a deletion', arguments: { trash_id: 'trash-06d9k2m8q4vx7c1n5t3bzaehfw' } },
  ],
  errors: ['TrashNotFound', 'AlreadyExists', ...writeErrors],
  preview: ({ trash_id }, { files }) =>
    previewOrNote(`Restore ${trash_id} from the trash.`, async () => {
      const { path, type, size_bytes, entries, deleted_at } = await files.trashed(trash_id)
      const size = type === 'file' ? ` of ${counted(size_bytes, 'byte')}` : ''
      const holds = entries === null ? '' : ` (names in it: ${entries})`
      return textPreview(
        `Restore a ${type}${size}${holds}, deleted at ${deleted_at}, to ${path}.`,
        (await files.stat(path)) !== null &&
          'The path is taken now, so the call is refused; it replaces nothing.',
      )
    }),
  resolve: async ({ trash_id }, { files }) => {
    const { path } = await files.trashed(trash_id)
    return { path, standing: await files.fingerprint(path, { entry: true }) }
  },
  async run(ctx, { trash_id }) {
    const restored = await ctx.files.restore(trash_id)
    ctx.note({ object: restored.path })
    return restored
  },
})
