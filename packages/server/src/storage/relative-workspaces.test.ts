import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { agentOf } from '@gatehouse/testkit/storage/samples'
import { expect, test } from 'vitest'
import { withRelativeWorkspaces } from './relative-workspaces.ts'

test('a workspace is kept relative, and found where the folder lies on each node', async () => {
  await using store = await openQuickStore()
  const one = withRelativeWorkspaces(store, '/one/workspaces')
  const two = withRelativeWorkspaces(store, '/two/workspaces/')
  await one.agents.insert(agentOf('mailbot', { workspace: '/one/workspaces/mailbot' }))
  await two.transaction((tx) =>
    tx.agents.insert(agentOf('coder', { workspace: '/two/workspaces/coder' })),
  )
  expect((await store.agents.list()).map(({ workspace }) => workspace)).toEqual([
    'coder',
    'mailbot',
  ])
  expect((await two.agents.find('mailbot'))?.workspace).toBe('/two/workspaces/mailbot')
  expect((await one.agents.findByTokenHash('hash of coder'))?.workspace).toBe(
    '/one/workspaces/coder',
  )
  expect((await two.agents.list()).map(({ workspace }) => workspace)).toEqual([
    '/two/workspaces/coder',
    '/two/workspaces/mailbot',
  ])
  expect((await one.agents.changedSince(0)).agents.map(({ workspace }) => workspace)).toEqual([
    '/one/workspaces/mailbot',
    '/one/workspaces/coder',
  ])
  const known = await one.agents.find('mailbot')
  if (!known) throw new Error('mailbot is gone')
  expect(await one.agents.replace(known, { ...known, purpose: 'else', generation: 2 })).toBe(true)
  expect(await store.agents.find('mailbot')).toMatchObject({
    workspace: 'mailbot',
    purpose: 'else',
  })
  expect(await one.agents.find('nobody')).toBeNull()
})

test('a workspace in no such folder stays where it is', async () => {
  await using store = await openQuickStore()
  const one = withRelativeWorkspaces(store, '/one/workspaces')
  for (const workspace of ['/one/workspaces-old/a', '/srv/b'])
    await one.agents.insert(agentOf(workspace.at(-1) ?? '', { workspace }))
  const places = async (agents: typeof store.agents) =>
    (await agents.list()).map(({ workspace }) => workspace)
  expect(await places(store.agents)).toEqual(['/one/workspaces-old/a', '/srv/b'])
  expect(await places(one.agents)).toEqual(await places(store.agents))
})
