import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import type { WakeCommands } from '../../ports/wakes.ts'

const entries = (kit: Kit) => kit.audit({ capability: 'agent.woken' })
const recorded = (kit: Kit, count: number) =>
  until(async () => ((await entries(kit)).length >= count ? entries(kit) : undefined))

test('wakes within a second are one, recorded, told and kept for the next poll', async () => {
  const started: string[] = []
  const wakeCommands = { start: (agent: string) => (started.push(agent), 'started' as const) }
  await using kit = await createKit({ wakeCommands })
  await kit.agent('alpha')
  const told: GatehouseEvent[] = []
  using _listening = kit.app.subscribeEvents('alpha', (event) => told.push(event) > 0)
  const verdicts = await Promise.all([
    kit.app.wakeAgent({ agent: 'alpha', reason: 'mail', data: { n: 1 } }),
    kit.app.wakeAgent({ agent: 'alpha' }),
    kit.app.wakeAgent({ agent: 'alpha', reason: 'more mail' }),
  ])
  expect(verdicts).toEqual([{ ok: true }, { ok: true }, { ok: true }])
  kit.clock.move(999)
  expect(told).toEqual([])
  kit.clock.move(1)
  const [entry] = await recorded(kit, 1)
  expect(entry).toMatchObject({
    agent: 'alpha',
    actor: 'system',
    arguments: { reason: 'more mail', data: { n: 1 } },
    detail: { count: 3 },
  })
  await until(() => started[0])
  expect(told).toMatchObject([
    { type: 'wake', data: { reason: 'more mail', data: { n: 1 }, count: 3 } },
  ])
  const polled = await kit.app.pollEvents(kit.op('alpha'), { timeout_ms: 0 })
  expect(polled.map(({ type }) => type)).toEqual(['wake'])
  await kit.app.wakeAgent({ agent: 'alpha' })
  kit.clock.move(1_000)
  expect(await recorded(kit, 2)).toHaveLength(2)
  await until(() => started[1])
  expect(started).toEqual(['alpha', 'alpha'])
})

test('there is nothing to wake where there is no agent', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  const unknown = kit.app.wakeAgent({ agent: 'nobody' })
  expect(await unknown).toEqual({ ok: false, error: 'no such agent' })
  expect(await kit.app.wakeAgent({ agent: 'alpha' })).toEqual({
    ok: false,
    error: 'the agent is revoked',
  })
  kit.clock.move(2_000)
  expect(await entries(kit)).toEqual([])
})

test('a paused agent is told and its command is not started', async () => {
  const started: string[] = []
  const wakeCommands = { start: (agent: string) => (started.push(agent), 'started' as const) }
  await using kit = await createKit({ wakeCommands })
  await kit.agent('alpha')
  await kit.agent('beta')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  await kit.app.wakeAgent({ agent: 'alpha' })
  await kit.app.wakeAgent({ agent: 'beta' })
  kit.clock.move(1_000)
  await until(() => (started.length > 0 ? true : undefined))
  await recorded(kit, 2)
  expect(started).toEqual(['beta'])
})

test('a command that was to start once more does not for an agent that was paused meanwhile, or that knows of the wake', async () => {
  const asked: (() => Promise<boolean>)[] = []
  const start: WakeCommands['start'] = (_agent, _wakeId, stillWanted) =>
    asked.push(stillWanted) > 0 ? 'running' : 'none'
  await using kit = await createKit({ wakeCommands: { start } })
  await kit.agent('alpha')
  await kit.app.wakeAgent({ agent: 'alpha' })
  kit.clock.move(1_000)
  const stillWanted = await until(() => asked[0])
  expect(await stillWanted()).toBe(true)
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  expect(await stillWanted()).toBe(false)
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  expect(await stillWanted()).toBe(true)
  expect(await kit.invoke('alpha', 'agent.briefing')).toMatchObject({ kind: 'succeeded' })
  expect(await stillWanted()).toBe(false)
})

test('what an agent has not seen is told again after a restart, and what it has seen is not', async () => {
  await using kit = await createKit({ startsLater: true })
  await kit.agent('alpha')
  const wake = { agent: 'alpha', data_json: null, count: 1, woken_ms: kit.clock.wall() }
  const at = { told_ms: kit.clock.wall(), seen_ms: null }
  await kit.storage.wakes.put({ ...wake, ...at, id: 'wake-1', reason: 'told' })
  await kit.storage.wakes.put({ ...wake, ...at, id: 'wake-2', reason: 'untold', told_ms: null })
  await kit.storage.wakes.put({ ...wake, id: 'wake-3', reason: 'seen', told_ms: 1, seen_ms: 1 })
  await kit.app.start()
  expect(await recorded(kit, 1)).toMatchObject([{ arguments: { reason: 'untold' } }])
  const polled = await until(async () => {
    const events = await kit.app.pollEvents(kit.op('alpha'), { timeout_ms: 0 })
    return events.length === 2 ? events : undefined
  })
  expect(polled.map(({ data }) => data['reason'])).toEqual(
    expect.arrayContaining(['told', 'untold']),
  )
  await until(async () => ((await kit.storage.wakes.listOpen(9)).length === 0 ? true : undefined))
})

test('a briefing names the wakes since the last one', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.app.wakeAgent({ agent: 'alpha', reason: 'mail' })
  kit.clock.move(1_000)
  await recorded(kit, 1)
  const brief = async () => {
    const outcome = await kit.invoke('alpha', 'agent.briefing')
    return outcome.kind === 'succeeded' ? outcome.data['wakes'] : outcome
  }
  expect(await brief()).toMatchObject([{ reason: 'mail', data: null, count: 1 }])
  expect(await brief()).toEqual([])
})
