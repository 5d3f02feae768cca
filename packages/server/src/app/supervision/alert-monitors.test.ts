import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { AlertMonitors, endAlertsOf, type MonitorDeps } from './alert-monitors.ts'

/** Monitors of a node that sees nothing but how full its disk is. */
const nodeOf = (kit: Kit, node: string, storage = kit.storage) => {
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
  return { disk, deps, monitors: new AlertMonitors(deps) }
}

const shared = (kit: Kit) => ({ ...kit.storage, isShared: true, isNetworked: true })

const alertsOf = async (kit: Kit, status: 'open' | 'acknowledged' | 'resolved') =>
  (await kit.storage.alerts.list({ status, limit: 9, offset: 0 })).alerts.map(
    ({ message }) => message,
  )

test('a node that is well ends no alert of another one', async () => {
  await using kit = await createKit({ startsLater: true })
  const [full, well] = [nodeOf(kit, 'a', shared(kit)), nodeOf(kit, 'b', shared(kit))]
  full.disk.percent = 95
  for (const { monitors } of [full, well, full]) await monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringMatching(/disk .* \(node a\)$/)])
  well.disk.percent = 96
  await well.monitors.look()
  expect(await alertsOf(kit, 'open')).toHaveLength(2)
  full.disk.percent = 10
  await full.monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringContaining('(node b)')])
  await endAlertsOf(full.deps, 'b')
  expect(await alertsOf(kit, 'open')).toEqual([])
})

test('what one node alone had raised ends where nodes share the store', async () => {
  await using kit = await createKit({ startsLater: true })
  const alone = nodeOf(kit, 'a')
  alone.disk.percent = 95
  await alone.monitors.look()
  const joined = nodeOf(kit, 'a', shared(kit))
  joined.disk.percent = 95
  await joined.monitors.start()
  await joined.monitors.look()
  expect(await alertsOf(kit, 'open')).toEqual([expect.stringContaining('(node a)')])
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
