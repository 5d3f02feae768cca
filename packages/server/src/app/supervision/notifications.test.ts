import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { Delivery, Notice, Notifier, NotifierTarget } from '../../ports/notifier.ts'

const target = (change: Partial<NotifierTarget> = {}): NotifierTarget => ({
  name: 'ops',
  kind: 'webhook',
  origin: 'https://hooks.example',
  events: ['approval.pending', 'approval.resolved', 'alert.raised'],
  hasSecret: true,
  ...change,
})

/** Takes what comes, unless it is down. */
const receiver = (...targets: readonly NotifierTarget[]) => {
  const got: { readonly to: string; readonly notice: Notice }[] = []
  const state = { down: false, tries: 0 }
  const notifier: Notifier = {
    targets: targets.length > 0 ? targets : [target()],
    async send(to, notice): Promise<Delivery> {
      state.tries += 1
      if (state.down) return { kind: 'failed', status: 503, detail: 'it answered 503' }
      got.push({ to, notice })
      return { kind: 'delivered', status: 200 }
    },
  }
  return { got, state, notifier }
}

/** Lets time pass in steps that the runner notices. */
const passUntil = async (kit: Kit, stepMs: number, isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) {
    kit.clock.move(stepMs)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

const policy =
  'version: 1\nrules:\n  - { match: filesystem.delete, tier: approval_required }\n  - { match: filesystem.stat, tier: autonomous, notify: true }\n'

const asksFor = (kit: Kit, path: string) => kit.pending('alpha', 'filesystem.delete', { path })

const opened = async (notifier: Notifier) => {
  const kit = await createKit({ policy, notifier })
  await kit.agent('alpha')
  for (const path of ['a.txt', 'secret-name.txt'])
    await kit.invoke('alpha', 'filesystem.write', { path, content: 'x' })
  return kit
}

test('people hear of a request once, however often it is made, and of what became of it', async () => {
  const { got, notifier } = receiver()
  await using kit = await opened(notifier)
  kit.app.listeners.page = 'https://gate.example/'
  const id = await asksFor(kit, 'secret-name.txt')
  expect(await asksFor(kit, 'secret-name.txt')).toBe(id)
  await passUntil(kit, 600, () => got.length === 1)
  await kit.decide(id, 'reject', { reason: 'no' })
  await passUntil(kit, 600, () => got.length === 2)
  expect(got.map(({ notice }) => notice)).toMatchObject([
    {
      type: 'approval.pending',
      title: 'alpha asks for filesystem.delete secret-name.txt',
      urgent: true,
      link: `https://gate.example/#approvals/${id}`,
      data: { approval_id: id, status: 'pending' },
    },
    {
      type: 'approval.resolved',
      urgent: false,
      data: { status: 'rejected', decided_by: 'user:ana' },
    },
  ])
  expect(new Set(got.map(({ notice }) => notice.id)).size).toBe(2)
  // Of the arguments only what the call is about leaves the machine.
  expect(JSON.stringify(got)).not.toContain('recursive')
})

test('a receiver that is down for hours gets everything once it is back', async () => {
  const { got, state, notifier } = receiver()
  await using kit = await opened(notifier)
  state.down = true
  const ids = [await asksFor(kit, 'a.txt'), await asksFor(kit, 'secret-name.txt')]
  await passUntil(kit, 60_000, () => state.tries >= 20)
  expect(got).toEqual([])
  expect(await kit.app.listNotifications(kit.operator())).toMatchObject([
    { name: 'ops', waiting: 2, failed: 0, last_failure: 'it answered 503' },
  ])
  state.down = false
  const pending = () =>
    got.flatMap(({ notice: { type, data } }) =>
      type === 'approval.pending' ? [data['approval_id']] : [],
    )
  await passUntil(kit, 60_000, () => pending().length >= 2)
  expect(pending()).toHaveLength(ids.length)
  expect(new Set(pending())).toEqual(new Set(ids))
})

test('what was given up is listed, and delivered when it is tried again', async () => {
  const { got, state, notifier } = receiver(target({ events: ['approval.pending'] }))
  await using kit = await opened(notifier)
  state.down = true
  await asksFor(kit, 'a.txt')
  const failed = () => kit.app.listFailedNotifications(kit.operator(), { name: 'ops' })
  await passUntil(kit, 16 * 60_000, async () => (await failed()).length === 1)
  expect(await failed()).toMatchObject([
    { event: 'approval.pending', attempts: 100, detail: 'it answered 503' },
  ])
  state.down = false
  const retried = await kit.app.retryNotifications(kit.operator(), { name: 'ops' })
  expect(retried).toEqual({ name: 'ops', retried: 1 })
  await passUntil(kit, 600, () => got.length === 1)
  expect(await failed()).toEqual([])
  expect((await kit.audit({ capability: 'notification.retried' })).length).toBe(1)
})

test('each target hears of what it asks for, and of calls only where it asks for them', async () => {
  const { got, notifier } = receiver(
    target({ name: 'alerts', events: ['alert.raised'] }),
    target({ name: 'calls', events: ['capability.notified'] }),
  )
  await using kit = await opened(notifier)
  await passUntil(kit, 600, () => got.length >= 2)
  got.length = 0
  await kit.invoke('alpha', 'alerts.send', { message: 'disk\u202e full', severity: 'critical' })
  await kit.invoke('alpha', 'filesystem.stat', { path: 'a.txt' })
  await asksFor(kit, 'a.txt')
  const seen = (name: string) => got.filter(({ to }) => to === name).map(({ notice }) => notice)
  await passUntil(kit, 600, () => seen('alerts').length === 1 && seen('calls').length >= 1)
  expect(seen('alerts')).toMatchObject([{ type: 'alert.raised', text: 'disk  full' }])
  expect(seen('calls').at(-1)).toMatchObject({ title: 'alpha calls filesystem.stat a.txt' })
})

test('a test says at once what came of it, and is on record', async () => {
  const { got, state, notifier } = receiver()
  await using kit = await opened(notifier)
  const ask = (name: string) => kit.app.testNotification(kit.operator(), { name })
  expect(await ask('ops')).toEqual({ name: 'ops', delivered: true, status: 200, detail: null })
  expect(got).toMatchObject([{ to: 'ops', notice: { type: 'test' } }])
  state.down = true
  expect(await ask('ops')).toMatchObject({ delivered: false, detail: 'it answered 503' })
  await expect(ask('oops')).rejects.toThrow('No target of notifications is called oops.')
  const entries = await kit.audit({ capability: 'notification.tested' })
  expect(entries.map(({ result }) => result)).toEqual(['error', 'success'])
})

test('runs of other kinds are left to whoever performs those', async () => {
  const { notifier } = receiver()
  await using kit = await opened(notifier)
  const ms = kit.clock.wall()
  const foreign = {
    ...{ id: 'job-x', kind: 'of_a_later_version', subject: 's', agent: '', payload_json: '{}' },
    ...{ state: 'running' as const, due_ms: ms, attempts: 1, attempts_max: 5, owner: 'elsewhere' },
    ...{ lease_ms: ms, created_ms: ms, started_ms: ms, finished_ms: null, outcome_json: null },
  } as const
  await kit.storage.jobs.insert(foreign)
  for (let steps = 0; steps < 20; steps += 1) {
    kit.clock.move(5_000)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect(await kit.storage.jobs.find('job-x')).toEqual(foreign)
})

test('a muted kind of alerts is recorded and told nobody, until its time is over or somebody ends it', async () => {
  const { got, notifier } = receiver()
  await using kit = await opened(notifier)
  const operator = kit.operator('ben')
  const told = () => got.map(({ notice }) => notice.text)
  const alert = (message: string) => kit.invoke('alpha', 'alerts.send', { message })
  await kit.app.muteAlerts(operator, { kind: 'agent', seconds: 600, reason: 'a known fault' })
  await alert('one')
  await kit.app.unmuteAlerts(operator, { kind: 'agent' })
  await alert('two')
  await passUntil(kit, 600, () => got.length === 1)
  await kit.app.muteAlerts(operator, {
    kind: 'agent',
    agent: 'beta' as never,
    seconds: 600,
    reason: 'x',
  })
  await alert('three')
  await passUntil(kit, 600, () => got.length === 2)
  await kit.app.muteAlerts(operator, {
    kind: 'agent',
    agent: 'alpha' as never,
    seconds: 600,
    reason: 'x',
  })
  await alert('four')
  expect((await kit.app.showAlertHandling(operator)).mutes).toMatchObject([
    { kind: 'agent', agent: 'beta', muted_by: 'user:ben' },
    { kind: 'agent', agent: 'alpha', reason: 'x' },
  ])
  kit.clock.move(601_000)
  expect((await kit.app.showAlertHandling(operator)).mutes).toEqual([])
  await alert('five')
  await passUntil(kit, 600, () => got.length === 3)
  expect(told()).toEqual(['two', 'three', 'five'])
  const { total } = await kit.app.listAlerts(operator, { limit: 10, offset: 0 })
  expect(total).toBe(5)
  const acts = await kit.audit({ capability: 'alerts.*' })
  expect(acts.filter(({ kind }) => kind === 'act').map(({ capability }) => capability)).toEqual([
    'alerts.muted',
    'alerts.muted',
    'alerts.unmuted',
    'alerts.muted',
  ])
})

test('a kind of alerts goes to the targets that were chosen for it, and others go everywhere', async () => {
  const { got, notifier } = receiver(
    target(),
    target({ name: 'phone' }),
    target({ name: 'deaf', events: ['approval.pending'] }),
  )
  await using kit = await opened(notifier)
  const operator = kit.operator()
  const route = (kind: 'agent' | 'disk', targets: string[] | null) =>
    kit.app.routeAlerts(operator, { kind, targets })
  await expect(route('agent', ['nobody'])).rejects.toMatchObject({
    type: 'NotificationTargetNotFound',
  })
  await expect(route('agent', ['deaf'])).rejects.toMatchObject({ type: 'Conflict' })
  await route('disk', [])
  expect(await route('agent', ['phone'])).toMatchObject({
    routes: [
      { kind: 'disk', targets: [] },
      { kind: 'agent', targets: ['phone'] },
    ],
  })
  await kit.invoke('alpha', 'alerts.send', { message: 'one' })
  await passUntil(kit, 600, () => got.length === 1)
  await route('agent', null)
  await kit.invoke('alpha', 'alerts.send', { message: 'two' })
  await passUntil(kit, 600, () => got.length === 3)
  expect(got.map(({ to, notice }) => `${notice.text} to ${to}`).toSorted()).toEqual([
    'one to phone',
    'two to ops',
    'two to phone',
  ])
})
