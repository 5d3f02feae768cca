import { parseArguments } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { AgentGit } from '../../ports/git.ts'
import { merge } from './merge.ts'

const contextOf = (resolved: Readonly<Record<string, unknown>> | null) => {
  const done: unknown[] = []
  const git: Partial<AgentGit> = {
    async merge(...given) {
      done.push(given)
      return { result: 'merged', head: 'h', conflicts: [] }
    },
  }
  return { done, ctx: { git, resolved } as unknown as CapabilityContext }
}
const args = parseArguments(merge, { path: 'app', ref: 'fix/title' })

test('an approved merge takes the commit that was shown, not where the branch is by now', async () => {
  const { ctx, done } = contextOf({ merged: 'then', into: 'here' })
  await merge.run(ctx, args)
  expect(done).toEqual([['app', 'fix/title', 'then']])
})

test('a merge that nobody had to approve takes the branch as it is', async () => {
  const { ctx, done } = contextOf(null)
  await merge.run(ctx, args)
  expect(done).toEqual([['app', 'fix/title', undefined]])
})
