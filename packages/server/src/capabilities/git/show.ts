import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  commitOutput,
  diffOutputs,
  filesMax,
  patchBytesField,
  refField,
  repositoryErrors,
  repositoryField,
  version,
} from './fields.ts'

export const show = defineCapability({
  name: 'git.show',
  title: 'Show commit',
  version,
  purpose: 'Show one commit and what it changed.',
  when_to_use: 'git.log and git.blame name commits. For two commits use git.diff.',
  inputs: z.strictObject({
    path: repositoryField,
    ref: refField('The commit, branch or tag.').default('HEAD'),
    max_bytes: patchBytesField,
  }),
  outputs: z.object({ commit: commitOutput, ...diffOutputs }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 130,
  common_patterns: [{ title: 'The last commit', arguments: { path: 'project' } }],
  errors: [...repositoryErrors, 'InvalidRef', 'GitRefused'],
  run: (ctx, { path, ref, max_bytes }) =>
    ctx.git.show(path, { ref, patchBytesMax: max_bytes, filesMax }),
})
