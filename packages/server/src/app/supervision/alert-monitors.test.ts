import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { StoredNode } from '../../ports/nodes.ts'
import type { Storage } from '../../ports/storage.ts'
import { AlertMonitors, type MonitorDeps } from './alert-monitors.ts'

/** Monitors of a node that sees nothing but how full its disk is. */
const nodeOf = (kit: Kit, node: string, storage: Storage = kit.storage) => {
  const disk = { percent: 10 }
  const healthy = { status: 'healthy' } as const
  const deps = {
    ...kit.parts,
    ...{ storage, node, signal: new AbortController().signal },
    audit: { health: () => healthy },
    gateWatch: { facts: async () => [] },
    policy: { problems: () => [] },
    vault: { state: () => ({ integrity: 'verified' }) },
    host: { resources: async () => ({ disk_percent: disk.percent }) },
    settings: { 'alerts.disk_percent': 90, 'alerts.approval_wait': 60_000 },
    partsHealth: async () => ({}),
  } as unknown as MonitorDeps
  return { disk, monitors: new AlertMonitors(deps) }
}

/** Storage of nodes of these names, as they are then. */
const shared = (kit: Kit, names: ReadonlySet<string>): Storage => ({
  ...kit.storage,
  ...{ isShared: true, isNetworked: true },
  nodes: replacing(kit.storage.nodes, {
    list: async () => Array.from(names, (name) => ({ name }) as StoredNode),
  }),
})

const alertsOf = async (kit: Kit, status: 'open' | 'acknowledged' | 'resolved') =>
  (await kit.storage.alerts.list({ status, limit: 9, offset: 0 })).alerts.map(
    ({ message }) => message,
  )

test('a node that is well ends no alert of another one', async () => {
  await using kit = await createKit({ startsLater: true })
  const names = new Set(['a', 'b'])
  const storage = shared(kit, names)
  const [full, well] = [nodeOf(kit, 'a', storage), nodeOf(kit, 'b', storage)]
  full.disk.percent = 95
  for (const { monitors } of [full, well, full]) await monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringMatching(/disk .* \(node a\)$/)])
  well.disk.percent = 96
  await well.monitors.look()
  expect(await alertsOf(kit, 'open')).toHaveLength(2)
  full.disk.percent = 10
  await full.monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringContaining('(node b)')])
  // Forgotten.
  names.delete('b')
  await full.monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([])
})

test('what one node alone had raised ends where nodes share the store, and the other way round', async () => {
  await using kit = await createKit({ startsLater: true })
  const alone = nodeOf(kit, 'a')
  const storage = shared(kit, new Set(['a', 'b']))
  const joined = [nodeOf(kit, 'a', storage), nodeOf(kit, 'b', storage)]
  for (const { disk } of [alone, ...joined]) disk.percent = 95
  const acknowledge = async (): Promise<void> => {
    const { alerts } = await kit.storage.alerts.list({ status: 'open', limit: 9, offset: 0 })
    for (const { id } of alerts) await kit.app.acknowledgeAlert(kit.operator(), { alert_id: id })
  }
  // An earlier version raised it once more after each acknowledgement.
  for (const id of ['alert_1', 'alert_2']) {
    await alone.monitors.look()
    await acknowledge()
    const [held] = (await kit.storage.alerts.list({ limit: 1, offset: 0 })).alerts
    if (held) await kit.storage.alerts.insert({ ...held, id })
  }
  for (const { monitors } of joined) await monitors.look()
  expect(await alertsOf(kit, 'acknowledged')).toEqual([])
  expect(await alertsOf(kit, 'open')).toHaveLength(2)
  await alone.monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringContaining('nothing runs.')])
})

test('an alert that a person acknowledged is not raised again, nor by a later run, until its cause is gone', async () => {
  await using kit = await createKit({ startsLater: true })
  const first = nodeOf(kit, 'a')
  first.disk.percent = 95
  await first.monitors.look()
  const { alerts } = await kit.storage.alerts.list({ limit: 1, offset: 0 })
  await kit.app.acknowledgeAlert(kit.operator(), { alert_id: alerts[0]?.id ?? '' })
  const second = nodeOf(kit, 'a')
  second.disk.percent = 95
  for (const { monitors } of [first, second]) await monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([])
  second.disk.percent = 10
  await second.monitors.look()
  expect(await alertsOf(kit, 'resolved')).toHaveLength(1)
  second.disk.percent = 95
  await second.monitors.look()
  expect(await alertsOf(kit, 'open')).toHaveLength(1)
})
