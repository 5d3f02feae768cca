import { z } from 'zod'
import type { PushPlan } from '../../ports/git.ts'
import { defineCapability } from '../define.ts'
import {
  branchField,
  changeErrors,
  list,
  remoteErrors,
  remoteField,
  repositoryField,
  secretField,
  version,
} from './fields.ts'

const short = (hash: string): string => hash.slice(0, 12)

const shownPlan = (plan: PushPlan, secret: string | undefined): string => {
  const there =
    plan.remote_head === null
      ? 'a branch that was not seen there yet'
      : `last seen at ${short(plan.remote_head)}`
  const more = plan.total_commits - plan.commits.length
  return [
    `git push ${plan.url} ${short(plan.head)}:refs/heads/${plan.branch}`,
    ...(secret === undefined ? [] : [`with the secret ${secret}`]),
    `${plan.total_commits} ${plan.total_commits === 1 ? 'commit' : 'commits'} would go to ${plan.branch}, ${there}:`,
    ...plan.commits.map(
      ({ hash, subject, author_name }) => `  ${short(hash)} ${subject} (${author_name})`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n')
}

export const push = defineCapability({
  name: 'git.push',
  title: 'Push commits',
  version,
  purpose: 'Push the commits of a branch to a remote; never overwrites anything there.',
  when_to_use:
    'After a rejection use git.pull first. Exactly the commits that a person was shown are sent.',
  inputs: z.strictObject({
    path: repositoryField,
    remote: remoteField,
    branch: branchField(
      'The branch to send, under the same name. Default: the current one.',
    ).optional(),
    secret: secretField,
  }),
  outputs: z.object({
    pushed_refs: list(z.string()).describe('Empty where the remote had everything.'),
    new_commits: z.int(),
    head: z.string(),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'commits on the remote, where others see them', reversible: false }],
  timeout_seconds: 600,
  common_patterns: [
    { title: 'Push the current branch', arguments: { path: 'project', secret: 'git-token' } },
  ],
  errors: [...changeErrors, ...remoteErrors, 'InvalidRef', 'PushRejected'],
  result_bytes: () => 256 * 1024,
  preview: async ({ path, remote, branch, secret }, { git }) => ({
    kind: 'command',
    text: shownPlan(await git.planPush(path, remote, branch), secret),
  }),
  resolve: async ({ path, remote, branch }, { git }) => ({
    plan: await git.planPush(path, remote, branch),
  }),
  // @SECURITY A push carries the plan that was shown: head, address and commits; git-remote.test.ts.
  async run(ctx, { path, remote, branch, secret }) {
    const approved = ctx.resolved?.['plan'] as PushPlan | undefined
    const plan = approved ?? (await ctx.git.planPush(path, remote, branch))
    // The arguments may say no more than `origin`.
    ctx.note({ remote_url: plan.url, branch: plan.branch, head: plan.head })
    const sent = await ctx.git.push(path, plan, secret)
    return { ...sent, head: plan.head }
  },
})
