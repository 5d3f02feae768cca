import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'
import { branchField, changeErrors, headField, repositoryField, version } from './fields.ts'
import { initPreview } from './preview.ts'

export const init = defineCapability({
  name: 'git.init',
  title: 'Create repository',
  version,
  purpose: 'Create a git repository in a folder.',
  when_to_use: 'For a repository that exists elsewhere use git.clone.',
  inputs: z.strictObject({
    path: repositoryField,
    initial_branch: branchField('Name of the first branch.').default('main'),
  }),
  outputs: z.object({ path: z.string(), default_branch: z.string(), head: headField }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a .git folder, and the folder itself where it is missing', reversible: true },
  ],
  undo: () => 'Delete the folder .git.',
  common_patterns: [{ title: 'A new repository', arguments: { path: 'project' } }],
  errors: [...changeErrors, 'AlreadyExists', 'InvalidRef'],
  result_bytes_max: smallResult,
  preview: ({ path, initial_branch }, ctx) => initPreview(path, initial_branch, ctx),
  resolve: async ({ path }, { files }) => ({
    folder: (await files.stat(path))?.type ?? null,
    repository: (await files.stat(`${files.resolve(path)}/.git`))?.type ?? null,
  }),
  run: (ctx, { path, initial_branch }) => ctx.git.init(path, initial_branch),
})
