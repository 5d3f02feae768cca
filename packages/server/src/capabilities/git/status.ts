import { z } from 'zod'
import { defineCapability } from '../define.ts'
import {
  changeOutput,
  headField,
  list,
  nameOutput,
  repositoryErrors,
  repositoryField,
  version,
  withheldField,
} from './fields.ts'

export const status = defineCapability({
  name: 'git.status',
  title: 'Show repository status',
  version,
  purpose: 'Show the branch and what has changed since the last commit.',
  when_to_use:
    'Call it before git.commit, and when another git call refuses. For the changed lines use git.diff.',
  inputs: z.strictObject({
    path: repositoryField,
    limit: z.int().min(1).max(10_000).default(1000).describe('The longest that each list gets.'),
  }),
  outputs: z.object({
    branch: z.string().nullable().describe('Null on a detached head.'),
    head: headField,
    upstream: z.string().nullable(),
    ahead: z.int().nullable().describe('Commits that the upstream lacks, as last seen.'),
    behind: z.int().nullable().describe('Commits that are missing here, as last seen.'),
    staged: list(changeOutput),
    unstaged: list(changeOutput),
    untracked: list(nameOutput).describe('A name that ends with / is a repository of its own.'),
    conflicted: list(nameOutput),
    state: z
      .enum(['clean', 'changed', 'merging', 'rebasing', 'cherry_picking', 'reverting', 'bisecting'])
      .describe('Anything but clean and changed is under way and waits to be ended.'),
    totals: z.object({
      staged: z.int(),
      unstaged: z.int(),
      untracked: z.int(),
      conflicted: z.int(),
    }),
    truncated: z.boolean(),
    withheld: withheldField,
  }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 130,
  common_patterns: [{ title: 'Look at a repository', arguments: { path: 'project' } }],
  errors: [...repositoryErrors, 'GitRefused'],
  run: (ctx, { path, limit }) => ctx.git.status(path, { limit }),
})
