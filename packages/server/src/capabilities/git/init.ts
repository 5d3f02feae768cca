import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { branchField, changeErrors, headField, repositoryField, version } from './fields.ts'

export const init = defineCapability({
  name: 'git.init',
  version,
  purpose: 'Make a folder a git repository.',
  when_to_use: 'For a new project. To copy one that is somewhere else use git.clone.',
  inputs: z.strictObject({
    path: repositoryField,
    initial_branch: branchField('What its first branch is called.').default('main'),
  }),
  outputs: z.object({ path: z.string(), default_branch: z.string(), head: headField }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a .git folder, and the folder itself where it is missing', reversible: true },
  ],
  common_patterns: [{ title: 'A new repository', arguments: { path: 'project' } }],
  errors: [...changeErrors, 'AlreadyExists', 'InvalidRef'],
  run: (ctx, { path, initial_branch }) => ctx.git.init(path, initial_branch),
})
