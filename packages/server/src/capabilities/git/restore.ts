import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { restoreBound } from './bound.ts'
import { changeErrors, filesField, list, refField, repositoryField, version } from './fields.ts'
import { restorePreview } from './preview.ts'

export const restore = defineCapability({
  name: 'git.restore',
  title: 'Restore files from git',
  version,
  purpose: 'Restore files as they are in a commit, and discard their changes.',
  when_to_use:
    'Uncommitted changes are lost. New files that git does not know stay; remove them with filesystem.delete.',
  inputs: z.strictObject({
    path: repositoryField,
    files: filesField('Files and folders of the repository; "." for all of it.'),
    source: refField('The commit that they are taken from.').default('HEAD'),
  }),
  outputs: z.object({
    result: z.enum(['restored', 'unchanged']),
    restored: list(z.string()).describe('Files that differed, and are now as in source.'),
    conflicts: list(z.string()).describe('Always empty; a restored file has none.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'changes that were not committed are gone', reversible: false }],
  timeout_seconds: 300,
  common_patterns: [
    { title: 'Undo changes of a file', arguments: { path: 'project', files: ['src/main.ts'] } },
  ],
  errors: [...changeErrors, 'InvalidRef'],
  result_bytes: () => 256 * 1024,
  preview: ({ path, files, source }, ctx) => {
    const what = files.includes('.') ? 'all files' : files.join(', ')
    return restorePreview(path, files, source, `Restore ${what} of ${path} as in ${source}.`, ctx)
  },
  resolve: ({ path, files, source }, { git }) => restoreBound(path, files, source, git),
  async run(ctx, { path, files, source }) {
    const restored = await ctx.git.restore(path, files, source)
    return {
      result: restored.length > 0 ? ('restored' as const) : ('unchanged' as const),
      restored,
      conflicts: [],
    }
  },
})
