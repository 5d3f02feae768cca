import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { mergeBound, restoreBound } from './bound.ts'
import { changeErrors, headField, list, refField, repositoryField, version } from './fields.ts'
import { mergePreview, restorePreview } from './preview.ts'

export const merge = defineCapability({
  name: 'git.merge',
  title: 'Merge branch',
  version,
  purpose: 'Merge a branch into the current one.',
  when_to_use:
    'The branch must be here; to get one use git.pull. After conflicts edit the files and use git.commit, or call again with abort.',
  inputs: z
    .strictObject({
      path: repositoryField,
      ref: refField('The branch or commit to merge.').optional(),
      abort: z.boolean().default(false).describe('Give up a merge that has conflicts.'),
    })
    .refine(({ ref, abort }) => (ref === undefined) === abort, {
      message: 'give either ref or abort',
      path: ['ref'],
    }),
  outputs: z.object({
    result: z.enum(['up_to_date', 'fast_forward', 'merged', 'conflicts', 'aborted']),
    head: headField,
    conflicts: list(z.string()).describe('Files with conflict markers to resolve.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'new commits on the current branch, or conflicts to resolve', reversible: true },
  ],
  timeout_seconds: 300,
  undo: ({ abort }) =>
    abort ? null : '“git reset --merge ORIG_HEAD” goes back to the commit before.',
  common_patterns: [
    { title: 'Merge a branch', arguments: { path: 'project', ref: 'fix/title' } },
    { title: 'Give up', arguments: { path: 'project', abort: true } },
  ],
  errors: [...changeErrors, 'InvalidRef'],
  result_bytes: () => 256 * 1024,
  preview: ({ path, ref }, ctx) =>
    ref === undefined
      ? restorePreview(path, ['.'], 'HEAD', `Give up the merge that is under way in ${path}.`, ctx)
      : mergePreview(path, ref, ctx),
  resolve: ({ path, ref }, { git }) =>
    ref === undefined ? restoreBound(path, ['.'], 'HEAD', git) : mergeBound(git, path, ref),
  // @SECURITY The commit that was approved, wherever the name leads by now; merge.test.ts.
  run: (ctx, { path, ref }) =>
    ref === undefined
      ? ctx.git.abortMerge(path)
      : ctx.git.merge(path, ref, ctx.resolved?.['merged'] as string | undefined),
})
