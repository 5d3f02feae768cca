import { parseArguments } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { CapabilityContext, PreviewContext } from '../../ports/capability.ts'
import type { AgentGit, PullPlan, PushPlan } from '../../ports/git.ts'
import { pull } from './pull.ts'
import { push } from './push.ts'

const pushPlan = (head: string): PushPlan => ({
  url: 'https://git.example/app',
  remote: 'origin',
  branch: 'main',
  head,
  remote_head: null,
  commits: [{ hash: head, subject: 'Evil \u202e', author_name: 'Ana' }],
  total_commits: 3,
  bases: [],
  commits_digest: 'd',
})

const pullPlan = (branch: string): PullPlan => ({
  url: 'https://git.example/app',
  remote: 'origin',
  branch,
  into: 'main',
  head: null,
})

/** Git that would now plan something else than what was approved. */
const contextOf = (resolved: Readonly<Record<string, unknown>> | null) => {
  const done: unknown[] = []
  const notes: object[] = []
  const git: Partial<AgentGit> = {
    planPush: async () => pushPlan('now'),
    planPull: async () => pullPlan('now'),
    async push(...given) {
      done.push(given)
      return { pushed_refs: ['refs/heads/main'], new_commits: 1 }
    },
    async pull(...given) {
      done.push(given)
      return { result: 'merged', head: 'h', conflicts: [], new_commits: 1 }
    },
  }
  const note = (facts: object) => void notes.push(facts)
  return {
    done,
    notes,
    ctx: { git, resolved, note } as unknown as CapabilityContext & PreviewContext,
  }
}

test('an approved push sends the plan that was approved, not what stands there now', async () => {
  const approved = pushPlan('then')
  const { ctx, done, notes } = contextOf({ plan: approved })
  const args = parseArguments(push, { path: 'app', secret: 's' })
  expect(await push.run(ctx, args as never)).toMatchObject({ head: 'then' })
  expect(done).toEqual([['app', approved, 's']])
  expect(notes).toEqual([{ remote_url: approved.url, branch: 'main', head: 'then' }])
})

test('a push that nobody had to approve is planned when it runs', async () => {
  const { ctx, done } = contextOf(null)
  await push.run(ctx, parseArguments(push, { path: 'app' }))
  expect(done).toEqual([['app', pushPlan('now'), undefined]])
})

test('an approved pull fetches what was approved', async () => {
  const { ctx, done } = contextOf({ plan: pullPlan('then') })
  await pull.run(ctx, parseArguments(pull, { path: 'app' }))
  expect(done).toEqual([['app', pullPlan('then'), undefined]])
})

test('the approver of a push sees address, branch, commits and how many are not told', async () => {
  const { ctx } = contextOf(null)
  const preview = await push.preview?.(parseArguments(push, { path: 'app', secret: 's' }), ctx)
  expect(preview).toEqual({
    kind: 'command',
    text: [
      'git push https://git.example/app now:refs/heads/main',
      'with the secret s',
      '3 commits would go to main, a branch that was not seen there yet:',
      '  now Evil \u202e (Ana)',
      '  and 2 more',
    ].join('\n'),
  })
})
