import { z } from 'zod'
import { boundFile } from '../bound-files.ts'
import { commandPreview } from '../command-preview.ts'
import { defineCapability, smallResult } from '../define.ts'
import { counted } from '../text-preview.ts'
import { entryField, version, writeErrors } from './fields.ts'

/** `delete` is a word of the language. */
export const deletePath = defineCapability({
  name: 'filesystem.delete',
  title: 'Delete file or folder',
  destructive: true,
  version,
  purpose: 'Delete a file or folder; filesystem.restore brings it back for 7 days.',
  when_to_use: 'Keep the trash_id of the answer. To give it another name use filesystem.move.',
  inputs: z.strictObject({
    path: entryField('File or folder to delete; a link itself is deleted, not its target'),
    recursive: z.boolean().default(false).describe('Also a folder that is not empty.'),
  }),
  outputs: z.object({
    path: z.string(),
    trash_id: z.string().describe('For filesystem.restore.'),
    recoverable_until: z.string(),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  side_effects: [{ what: 'a file or folder is gone from its path', reversible: true }],
  undo: () => 'It stays in the trash for 7 days: filesystem.restore brings it back.',
  common_patterns: [
    { title: 'Delete a file', arguments: { path: 'old.log' } },
    { title: 'Delete a folder with its contents', arguments: { path: 'build', recursive: true } },
  ],
  errors: [...writeErrors, 'DirectoryNotEmpty', 'ApprovalStale'],
  result_bytes_max: smallResult,
  preview: async ({ path, recursive }, { files }) => {
    const found = await files.stat(path)
    const what = found
      ? `${found.type}${found.type === 'file' ? ` of ${counted(found.size_bytes, 'byte')}` : ''}, changed ${found.modified_at}`
      : 'nothing stands there now'
    return commandPreview(
      ['rm', ...(recursive ? ['-r'] : []), files.resolve(path)],
      `${what}; into the trash`,
    )
  },
  resolve: async ({ path }, { files }) => ({
    target: await files.fingerprint(path, { entry: true }),
  }),
  run: async (ctx, { path, recursive }) =>
    ctx.files.trash(path, { recursive, bound: boundFile(ctx, 'target') }),
})
