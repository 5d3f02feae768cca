import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  commitOutput,
  list,
  refField,
  repositoryErrors,
  repositoryField,
  version,
} from './fields.ts'

export const log = defineCapability({
  name: 'git.log',
  title: 'List commits',
  version,
  purpose: 'List commits, newest first.',
  when_to_use: 'For what one of them changed use git.show, for who wrote a line git.blame.',
  inputs: z.strictObject({
    path: repositoryField,
    limit: z.int().min(1).max(500).default(30),
    offset: z.int().min(0).max(1_000_000).default(0).describe('How many to leave out first.'),
    ref: refField('The branch or commit to start from.').default('HEAD'),
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('Only commits made after this time (ISO 8601).'),
    author: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only authors whose name or address contains this.'),
    file: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe('Only commits that changed this file or folder.'),
  }),
  outputs: z.object({
    commits: list(commitOutput),
    truncated: z.boolean().describe('Whether there are more; go on with offset.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 130,
  common_patterns: [
    { title: 'The newest commits', arguments: { path: 'project' } },
    { title: 'History of a file', arguments: { path: 'project', file: 'src/main.ts', limit: 10 } },
  ],
  errors: [...repositoryErrors, 'InvalidRef'],
  run: (ctx, { path, ...options }) => ctx.git.log(path, options),
})
