import { createKit, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'

const save = async (kit: Kit, tools: readonly string[] | null, agent?: string): Promise<void> => {
  const text = `version: 1\n${tools === null ? 'rules: []' : `tools: ${JSON.stringify(tools)}`}\n`
  const { problems } = await kit.parts.policy.save({ text, ...(agent ? { agent } : {}) })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
}

const namesFor = async (kit: Kit, agent = 'alpha') =>
  (await kit.app.listCapabilities(kit.op(agent), {})).map(({ capability }) => capability.name)

const ownView = [
  ...['agent.whoami', 'approvals.cancel', 'approvals.get', 'approvals.list', 'approvals.wait'],
]

const open = async (): Promise<Kit> => {
  const kit = await createKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  return kit
}

test('a list of tools leaves everything else out of listings and calls, and names its line', async () => {
  await using kit = await open()
  const all = await namesFor(kit)
  await save(kit, ['filesystem.l*', 'filesystem.read', 'email.*'])
  expect(await namesFor(kit)).toEqual([...ownView, 'filesystem.list', 'filesystem.read'])
  const left = { path: 'a' }
  for (const args of [left, { nonsense: true }])
    expect(await kit.invoke('alpha', 'filesystem.mkdir', args)).toMatchObject({
      kind: 'denied',
      reason: 'policy',
      message: expect.stringContaining('organisation.yaml:2'),
      data: { reason: 'blocked', rule: { file: 'organisation.yaml', line: 2, match: 'tools' } },
    })
  expect(
    await kit.app.describeCapability(kit.op('alpha'), { name: 'filesystem.mkdir' }),
  ).toMatchObject({ kind: 'blocked', data: { reason: 'blocked' } })
  expect(await kit.invoke('alpha', 'filesystem.list', { path: '.' })).toMatchObject({
    kind: 'succeeded',
  })
  await save(kit, ['*'])
  expect(await namesFor(kit)).toEqual(all)
  expect(await kit.invoke('alpha', 'filesystem.mkdir', left)).toMatchObject({ kind: 'succeeded' })
})

test('the lists of the organisation, of the agent and of its own record hold together', async () => {
  await using kit = await open()
  await save(kit, ['filesystem.*'])
  await save(kit, ['*.read', '*.list', '*.stat'], 'alpha')
  await kit.app.editAgent(kit.operator(), {
    name: 'alpha',
    changes: { tools: ['filesystem.*t'] },
    versions: null,
  })
  expect(await namesFor(kit)).toEqual([...ownView, 'filesystem.list', 'filesystem.stat'])
  // Another agent's file speaks of that agent alone.
  expect(await namesFor(kit, 'beta')).toContain('filesystem.read')
  expect(await kit.invoke('beta', 'filesystem.mkdir', { path: 'b' })).toMatchObject({
    kind: 'succeeded',
  })
  const reasonFor = async (name: string) => await kit.invoke('alpha', name, { path: 'a' })
  expect(await reasonFor('filesystem.read')).toMatchObject({ reason: 'tool_set' })
  await kit.app.editAgent(kit.operator(), { name: 'alpha', changes: { tools: [] }, versions: null })
  expect(await reasonFor('filesystem.mkdir')).toMatchObject({
    data: { rule: { file: 'agents/alpha.yaml' } },
  })
  expect(await reasonFor('system.time')).toMatchObject({
    data: { rule: { file: expect.stringMatching(/\.yaml$/) } },
  })
})

test('a rule lets nothing pass that a list leaves out, and a search does not find it', async () => {
  await using kit = await open()
  await kit.parts.policy.save({
    text: [
      'version: 1',
      'tools: ["filesystem.read", "tools.*"]',
      'rules:',
      '  - { match: filesystem.mkdir, tier: autonomous }',
      'tests:',
      '  - { capability: filesystem.mkdir, args: { path: a }, expect: blocked }',
      '',
    ].join('\n'),
  })
  expect(await kit.invoke('alpha', 'filesystem.mkdir', { path: 'a' })).toMatchObject({
    kind: 'denied',
  })
  expect(
    await kit.invoke('alpha', 'tools.call', {
      name: 'filesystem.mkdir',
      arguments: { path: 'a' },
    }),
  ).toMatchObject({ kind: 'denied' })
  const found = await kit.invoke('alpha', 'tools.search', { query: 'make a folder' })
  expect(JSON.stringify(found)).not.toContain('filesystem.mkdir')
  await expect(
    kit.invoke('alpha', 'tools.describe', { name: 'filesystem.mkdir' }),
  ).resolves.toMatchObject({ kind: 'failed' })
  await expect(
    kit.app.testPolicy(kit.operator(), {
      agent: 'alpha',
      capability: 'filesystem.mkdir',
      arguments: { path: 'a' },
    }),
  ).resolves.toMatchObject({
    decision: { kind: 'deny', rule: { line: 2 } },
    steps: [{ outcome: 'decided', detail: 'leaves it out: filesystem.read, tools.*' }],
  })
})

test('what waited when the list came cannot be approved, and clients hear of the change', async () => {
  await using kit = await open()
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'x' })
  const id = await kit.pending('alpha', 'filesystem.delete', { path: 'a.txt' })
  const told: string[] = []
  using _listening = kit.app.subscribeEvents('alpha', ({ type }) => {
    if (type === 'tools.changed') told.push(type)
    return true
  })
  await save(kit, ['filesystem.read'])
  await until(() => told.length > 0)
  expect(told).toEqual(['tools.changed'])
  await expect(kit.decide(id, 'approve')).rejects.toThrow('policy blocks it now')
})

test('a draft shows whom it would take which tools from', async () => {
  await using kit = await open()
  const simulated = await kit.app.simulatePolicy(kit.operator(), {
    agents: ['alpha'],
    capabilities: ['filesystem.read', 'filesystem.mkdir'],
    draft: { text: 'version: 1\ntools: ["filesystem.read"]\n' },
    trace: false,
  })
  expect(simulated).toMatchObject({
    results: [
      { capability: 'filesystem.read', tier: 'autonomous', active_tier: 'autonomous' },
      { capability: 'filesystem.mkdir', tier: 'blocked', active_tier: 'autonomous' },
    ],
  })
})
