import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  diffOutputs,
  filesField,
  filesMax,
  patchBytesField,
  refField,
  repositoryErrors,
  repositoryField,
  version,
} from './fields.ts'

export const diff = defineCapability({
  name: 'git.diff',
  title: 'Show diff',
  version,
  purpose: 'Show changed lines: work tree, staged, or between two commits.',
  when_to_use:
    'For the names alone use git.status, for one commit git.show. Untracked files are not in it.',
  inputs: z
    .strictObject({
      path: repositoryField,
      staged: z.boolean().default(false).describe('Compare what is staged.'),
      from: refField('The commit to compare from. Default: the index, or HEAD with to.').optional(),
      to: refField('The commit to compare to. Default: the work tree.').optional(),
      paths: filesField('Only these files and folders.').optional(),
      max_bytes: patchBytesField,
    })
    .refine(({ staged, to }) => !(staged && to !== undefined), {
      message: 'to does not go together with staged',
      path: ['to'],
    }),
  outputs: z.object(diffOutputs),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 130,
  common_patterns: [
    { title: 'Changes not staged', arguments: { path: 'project' } },
    { title: 'Two branches', arguments: { path: 'project', from: 'main', to: 'feature' } },
    {
      title: 'The list of files alone',
      arguments: { path: 'project', from: 'HEAD~5', max_bytes: 0 },
    },
  ],
  errors: [...repositoryErrors, 'InvalidRef', 'GitRefused'],
  text: ({ patch, totals }) =>
    patch === '' ? `${totals.files} files, +${totals.additions} -${totals.deletions}` : patch,
  run: (ctx, { path, max_bytes, paths = [], ...which }) =>
    ctx.git.diff(path, { ...which, paths, patchBytesMax: max_bytes, filesMax }),
})
