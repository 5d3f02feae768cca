import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { branchBound } from './bound.ts'
import { branchField, changeErrors, list, refField, repositoryField, version } from './fields.ts'
import { branchPreview } from './preview.ts'

const undoOf = {
  list: 'Listing changes nothing.',
  create: 'Delete the branch.',
  switch: 'Switch back.',
  delete: 'Its commits are all elsewhere: create it again at the commit that the preview names.',
} as const

export const branch = defineCapability({
  name: 'git.branch',
  title: 'Manage branches',
  destructive: true,
  version,
  purpose: 'List, create, switch to or delete branches.',
  when_to_use:
    '`create` does not switch; `switch` changes the files. A branch whose commits are nowhere else is not deleted.',
  inputs: z
    .strictObject({
      path: repositoryField,
      action: z.enum(['list', 'create', 'switch', 'delete']).default('list'),
      name: branchField('The branch; for every action but list.').optional(),
      start_point: refField('For create: where it begins. Default: HEAD.').optional(),
    })
    .refine(({ action, name }) => (action === 'list') === (name === undefined), {
      message: 'name goes together with create, switch and delete, and with them only',
      path: ['name'],
    })
    .refine(({ action, start_point }) => action === 'create' || start_point === undefined, {
      message: 'start_point goes together with create only',
      path: ['start_point'],
    }),
  outputs: z.object({
    branches: list(
      z.object({
        name: z.string(),
        head: z.string(),
        remote: z.boolean(),
        subject: z.string(),
        committed_at: z.string(),
      }),
    ),
    current: z.string().nullable().describe('Null on a detached head.'),
    truncated: z.boolean().describe('Whether there are more than the 1000 told.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a branch made or deleted, or other files in the work tree', reversible: true },
  ],
  timeout_seconds: 300,
  undo: ({ action }) => undoOf[action],
  common_patterns: [
    { title: 'List', arguments: { path: 'project' } },
    { title: 'Create', arguments: { path: 'project', action: 'create', name: 'fix/title' } },
    { title: 'Go there', arguments: { path: 'project', action: 'switch', name: 'fix/title' } },
  ],
  errors: [...changeErrors, 'InvalidRef'],
  result_bytes: () => 256 * 1024,
  preview: branchPreview,
  resolve: (act, { git }) => branchBound(act, git),
  async run(ctx, { path, action, name = '', start_point = 'HEAD' }) {
    const start = (ctx.resolved?.['start'] as string | null | undefined) ?? start_point
    if (action === 'create') await ctx.git.createBranch(path, name, start)
    else if (action === 'switch') await ctx.git.switchBranch(path, name)
    else if (action === 'delete') await ctx.git.deleteBranch(path, name)
    return await ctx.git.branches(path)
  },
})
