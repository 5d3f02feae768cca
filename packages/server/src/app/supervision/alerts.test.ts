import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const alertsOf = async (kit: Kit, status?: 'open' | 'acknowledged' | 'resolved') =>
  (
    await kit.app.listAlerts(kit.operator(), {
      limit: 100,
      offset: 0,
      ...(status ? { status } : {}),
    })
  ).alerts

const send = async (kit: Kit, agent: string, message: string) => {
  const outcome = await kit.invoke(agent, 'alerts.send', { message, context: { n: 1 } })
  if (outcome.kind !== 'succeeded') return outcome
  return outcome.data
}

test('is one alert however often an agent says the same, until a person takes note', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const first = await send(kit, 'mailbot', 'full')
  expect(await send(kit, 'mailbot', 'full')).toEqual({ ...first, count: 2 })
  const [alert] = await alertsOf(kit, 'open')
  expect(alert).toMatchObject({
    source: 'agent:mailbot',
    message: 'full',
    count: 2,
    context: { n: 1 },
  })
  const id = alert?.id ?? ''
  const taken = await kit.app.acknowledgeAlert(kit.operator('ben'), { alert_id: id })
  expect(taken).toMatchObject({ status: 'acknowledged', acknowledged_by: 'user:ben' })
  expect(await kit.app.acknowledgeAlert(kit.operator('ana'), { alert_id: id })).toEqual(taken)
  expect(await send(kit, 'mailbot', 'full')).toMatchObject({ count: 1 })
  const acts = await kit.audit({ capability: 'alert.*' })
  expect(acts.map(({ capability }) => capability)).toEqual([
    'alert.raised',
    'alert.acknowledged',
    'alert.raised',
  ])
})

test('shows an agent its own alerts and lets it close no others', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.agent('other')
  await send(kit, 'mailbot', 'full')
  const [alert] = await alertsOf(kit)
  expect(await kit.invoke('other', 'alerts.list')).toMatchObject({ data: { alerts: [], total: 0 } })
  const close = { alert_id: alert?.id }
  expect(await kit.invoke('other', 'alerts.acknowledge', close)).toMatchObject({
    error: { type: 'AlertNotFound' },
  })
  expect(await kit.invoke('mailbot', 'alerts.acknowledge', close)).toMatchObject({
    data: { status: 'acknowledged' },
  })
})

test('lets no agent drown the others in open alerts', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.agent('other')
  for (let n = 0; n < 100; n += 1) await send(kit, 'mailbot', `alert ${n}`)
  expect(await send(kit, 'mailbot', 'one more')).toMatchObject({ error: { type: 'QuotaExceeded' } })
  expect(await send(kit, 'other', 'mine')).toMatchObject({ count: 1 })
})

test('warns of approvals that wait too long, once, until they are decided', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  await kit.invoke('mailbot', 'filesystem.write', { path: 'a', content: 'x' })
  const id = await kit.pending('mailbot', 'filesystem.delete', { path: 'a' })
  const look = async () => {
    kit.clock.move(10_000)
    await kit.audit()
  }
  await look()
  expect(await alertsOf(kit)).toEqual([])
  kit.clock.move(3_600_000)
  await expect
    .poll(() => alertsOf(kit, 'open'))
    .toMatchObject([
      { source: 'system', kind: 'approvals', count: 1, context: { oldest: id, pending: 1 } },
    ])
  await look()
  await look()
  const [alert] = await alertsOf(kit)
  expect(alert?.count).toBe(1)
  await kit.app.acknowledgeAlert(kit.operator(), { alert_id: alert?.id ?? '' })
  await look()
  expect(await alertsOf(kit)).toHaveLength(1)
  await kit.decide(id, 'reject')
  await expect
    .poll(async () => {
      await look()
      return alertsOf(kit)
    })
    .toMatchObject([{ status: 'resolved' }])
})

test('warns of a policy file that is refused, with its place, until it is valid', async () => {
  await using kit = await createKit()
  const later = (status: 'open' | 'resolved') => {
    kit.clock.move(10_000)
    return alertsOf(kit, status)
  }
  const { writeFileSync, mkdirSync } = await import('node:fs')
  mkdirSync(`${kit.folder}/policies`, { recursive: true })
  writeFileSync(`${kit.folder}/policies/organisation.yaml`, 'version: 2\n')
  await kit.parts.policy.reload()
  await expect.poll(() => later('open')).toMatchObject([{ kind: 'policy', severity: 'warning' }])
  expect((await alertsOf(kit))[0]?.message).toContain('organisation.yaml:1:')
  writeFileSync(`${kit.folder}/policies/organisation.yaml`, 'version: 1\nrules: []\n')
  await kit.parts.policy.reload()
  await expect.poll(() => later('resolved')).toHaveLength(1)
})
