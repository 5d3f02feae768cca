import { GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'

const limitTo = (kit: Kit, tools: string[]) =>
  kit.app.editAgent(kit.operator(), { name: 'alpha', changes: { tools }, versions: null })

const namesFor = async (kit: Kit) =>
  (await kit.app.listCapabilities(kit.op('alpha'), {})).map(({ capability }) => capability.name)

test('a tool outside of the set is neither listed nor callable, and the refusal names the remedy', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const all = await namesFor(kit)
  await limitTo(kit, ['filesystem.read', 'filesystem.l*'])
  expect(await namesFor(kit)).toEqual([
    ...['agent.whoami', 'approvals.cancel', 'approvals.get', 'approvals.list', 'approvals.wait'],
    ...['filesystem.list', 'filesystem.read'],
  ])
  const refused = await kit.invoke('alpha', 'filesystem.write', { nonsense: true })
  expect(refused).toMatchObject({
    kind: 'denied',
    reason: 'tool_set',
    data: { reason: 'tool_set' },
  })
  expect(JSON.stringify(refused)).toContain('gatehouse agent edit alpha --tools')
  const described = await kit.app.describeCapability(kit.op('alpha'), { name: 'filesystem.write' })
  expect(described).toMatchObject({ kind: 'blocked', data: { reason: 'tool_set' } })
  expect(await kit.audit({ capability: 'filesystem.write' })).toMatchObject([
    { result: 'denied', policy_decision: 'blocked', error: { type: 'OutsideToolSet' } },
  ])
  expect(await kit.invoke('alpha', 'filesystem.list', { path: '.' })).toMatchObject({
    kind: 'succeeded',
  })
  await limitTo(kit, ['*'])
  expect(await namesFor(kit)).toEqual(all)
  expect(await kit.invoke('alpha', 'filesystem.mkdir', { path: 'a' })).toMatchObject({
    kind: 'succeeded',
  })
})

test('what was asked for before the set changed cannot be approved after it', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'x' })
  const id = await kit.pending('alpha', 'filesystem.delete', { path: 'a.txt' })
  await limitTo(kit, ['filesystem.read'])
  const outside = 'filesystem.delete is outside of the tool set of alpha'
  expect(await kit.app.showApproval(kit.operator(), { approval_id: id })).toMatchObject({
    stale: outside,
  })
  await expect(kit.decide(id, 'approve')).rejects.toThrow(outside)
})

test('an agent that listens hears of another set once, and of a change of its purpose not', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const told: string[] = []
  using _listening = kit.app.subscribeEvents('alpha', ({ type }) => {
    if (type === 'tools.changed') told.push(type)
    return true
  })
  await limitTo(kit, ['filesystem.*'])
  await until(() => told.length === 1)
  const changes = { purpose: 'Reads' }
  await kit.app.editAgent(kit.operator(), { name: 'alpha', changes, versions: null })
  await limitTo(kit, [])
  await until(() => told.length > 1)
  expect(told).toEqual(['tools.changed', 'tools.changed'])
})

test('an edit is recorded with what is different, and the same again changes nothing', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const edit = (changes: object, versions: string[] | null = null) =>
    kit.app.editAgent(kit.operator(), { name: 'alpha', changes, versions })
  const first = await edit({ purpose: 'Mail', approvals: 'hold', tools: ['email.*', 'emial.*'] })
  expect(first).toMatchObject({
    kind: 'edited',
    agent: { purpose: 'Mail', approvals: 'hold', tools: ['email.*', 'emial.*'], version: 2 },
    warnings: ['emial.* matches no tool that is known now.'],
  })
  expect(await edit({ purpose: 'Mail', tools: ['email.*', 'emial.*'] })).toMatchObject({
    kind: 'edited',
    agent: { version: 2 },
  })
  expect(await edit({ purpose: 'Late' }, ['1'])).toMatchObject({
    kind: 'changed',
    agent: { purpose: 'Mail', version: 2 },
  })
  expect(await edit({ purpose: 'In time' }, ['2'])).toMatchObject({ agent: { version: 3 } })
  const entries = await kit.audit({ capability: 'agent.edited' })
  expect(entries.map((entry) => entry.arguments)).toEqual([
    { name: 'alpha', purpose: 'In time' },
    { name: 'alpha', purpose: 'Mail', approvals: 'hold', tools: ['email.*', 'emial.*'] },
  ])
})

test('an edit does not change what it must not, and keeps a pause of everything', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const edit = (name: string, changes: object) =>
    kit.app.editAgent(kit.operator(), { name, changes, versions: null })
  await expect(edit('nobody', {})).rejects.toMatchObject({ type: 'AgentNotFound' })
  const mounts = [{ path: '/proc', read_only: true }]
  await expect(edit('alpha', { mounts })).rejects.toBeInstanceOf(GatehouseError)
  await kit.app.pauseAll(kit.operator(), { reason: '' })
  await edit('alpha', { purpose: 'x' })
  expect(await kit.app.resumeAll(kit.operator(), {})).toMatchObject({ agents: ['alpha'] })
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  await expect(edit('alpha', { purpose: 'y' })).rejects.toMatchObject({
    type: 'AgentStateConflict',
  })
})

test('a folder that is given to an agent is reached by its next call, and one that is taken away is not', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  const path = kit.workspace('beta')
  const list = () => kit.invoke('alpha', 'filesystem.list', { path })
  const mount = (mounts: { path: string; read_only: boolean }[]) =>
    kit.app.editAgent(kit.operator(), { name: 'alpha', changes: { mounts }, versions: null })
  expect(await list()).toMatchObject({ kind: 'failed', error: { type: 'PathOutOfScope' } })
  await mount([{ path, read_only: true }])
  expect(await list()).toMatchObject({ kind: 'succeeded' })
  await mount([])
  expect(await list()).toMatchObject({ kind: 'failed', error: { type: 'PathOutOfScope' } })
})

test('an agent is told how many calls its session has had', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const opened = { transport: 'rpc', client: null } as const
  const { session_id } = await kit.app.openSession(kit.op('alpha'), opened)
  for (const path of ['.', '.']) {
    await kit.invoke('alpha', 'filesystem.list', { path }, { session_id })
  }
  const told = await kit.invoke('alpha', 'agent.session', {}, { session_id })
  expect(told).toMatchObject({ data: { session: { session_id, invocations: 2 } } })
  const none = await kit.invoke('alpha', 'agent.session')
  expect(none).toMatchObject({ kind: 'succeeded', data: { session: null } })
})
