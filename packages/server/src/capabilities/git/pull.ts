import { z } from 'zod'
import type { PullPlan } from '../../ports/git.ts'
import { commandPreview } from '../command-preview.ts'
import { defineCapability } from '../define.ts'
import {
  branchField,
  changeErrors,
  headField,
  list,
  remoteErrors,
  remoteField,
  repositoryField,
  secretField,
  version,
} from './fields.ts'

export const pull = defineCapability({
  name: 'git.pull',
  title: 'Pull commits',
  version,
  purpose: 'Fetch a branch from a remote and merge it into the current one.',
  when_to_use: 'Call it before git.push where that was rejected.',
  inputs: z.strictObject({
    path: repositoryField,
    remote: remoteField,
    branch: branchField(
      'The branch of the remote. Default: the one that belongs to yours.',
    ).optional(),
    secret: secretField,
  }),
  outputs: z.object({
    result: z.enum(['up_to_date', 'fast_forward', 'merged', 'conflicts', 'aborted']),
    new_commits: z.int().describe('Commits that were not in the current branch before.'),
    head: headField,
    conflicts: list(z.string()).describe('Files with conflict markers to resolve.'),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [
    { what: 'new commits on the current branch, or conflicts to resolve', reversible: true },
  ],
  timeout_seconds: 600,
  undo: () => '“git reset --merge ORIG_HEAD” goes back to the commit before.',
  common_patterns: [
    { title: 'Bring a repository up to date', arguments: { path: 'project', secret: 'git-token' } },
  ],
  errors: [...changeErrors, ...remoteErrors, 'InvalidRef'],
  result_bytes: () => 256 * 1024,
  preview: async ({ path, remote, branch, secret }, { git }) => {
    const plan = await git.planPull(path, remote, branch)
    const login = secret === undefined ? '' : `, with the secret ${secret}`
    return commandPreview(
      ['git', 'pull', plan.url, plan.branch],
      `into ${plan.into} at ${plan.head ?? 'no commit'}${login}`,
    )
  },
  resolve: async ({ path, remote, branch }, { git }) => ({
    plan: await git.planPull(path, remote, branch),
  }),
  async run(ctx, { path, remote, branch, secret }) {
    const approved = ctx.resolved?.['plan'] as PullPlan | undefined
    const plan = approved ?? (await ctx.git.planPull(path, remote, branch))
    ctx.note({ remote_url: plan.url, branch: plan.branch })
    return await ctx.git.pull(path, plan, secret)
  },
})
