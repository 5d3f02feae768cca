import { GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'
import type { Calendar, StoredSchedule } from '../../ports/schedules.ts'
import type { Storage } from '../../ports/storage.ts'
import { resumeStalled } from './scheduled-calls.ts'

const minute = 60_000
const hour = 60 * minute

const counter = () => {
  let calls = 0
  const capability = defineCapability({
    title: 'Do it',
    name: 'test.count',
    version: '1.0',
    purpose: 'Counts.',
    when_to_use: 'In tests.',
    inputs: z.strictObject({ by: z.int().default(1) }),
    outputs: z.object({ calls: z.int() }),
    tier: 'autonomous',
    effect: 'immediate',
    errors: [],
    run: async (_ctx, { by }) => {
      calls += by
      return { calls }
    },
  })
  return { capability, calls: () => calls }
}

type Run = {
  outcome: string
  late_seconds: number
  missed: number
  detail: Record<string, unknown>
}

const dataOf = async <T>(kit: Kit, capability: string, args: object): Promise<T> => {
  const outcome = await kit.invoke('alpha', capability, args)
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data as T
}

const create = async (kit: Kit, args: object) =>
  (
    await dataOf<{ schedule_id: string }>(kit, 'scheduler.create', {
      capability: 'test.count',
      ...args,
    })
  ).schedule_id

const runsOf = async (kit: Kit, schedule_id: string): Promise<readonly Run[]> =>
  (await dataOf<{ runs: Run[] }>(kit, 'scheduler.history', { schedule_id })).runs

/** The runs that have ended, once there are so many. */
const ended = (kit: Kit, id: string, count: number): Promise<readonly Run[]> =>
  until(async () => {
    const runs = (await runsOf(kit, id)).filter(
      (run) => !['waiting', 'running'].includes(run.outcome),
    )
    return runs.length >= count ? runs : undefined
  })

test('makes a call later, once, as its agent, through the gate', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const id = await create(kit, { arguments: { by: 3 }, delay_seconds: 90 })
  kit.clock.move(89_000)
  expect(await runsOf(kit, id)).toMatchObject([{ outcome: 'waiting' }])
  kit.clock.move(1_000)
  const [run] = await ended(kit, id, 1)
  expect(run).toMatchObject({ outcome: 'succeeded', missed: 0, detail: { data: { calls: 3 } } })
  kit.clock.move(hour)
  expect(calls()).toBe(3)
  const [entry] = await kit.audit({ agent: 'alpha', capability: 'test.count' })
  expect(entry).toMatchObject({
    result: 'success',
    actor: 'agent:alpha',
    policy_decision: 'autonomous',
  })
  expect(entry?.request_id).toBe(run?.detail['request_id'])
  const list = await dataOf<{ schedules: object[] }>(kit, 'scheduler.list', {})
  expect(list.schedules).toMatchObject([{ schedule_id: id, status: 'done', next_run_at: null }])
})

test('fires again and again by cron fields in a time zone', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  // 2026-01-01 00:00 UTC is 01:00 in Berlin.
  const made = await dataOf<{ schedule_id: string; next_run_at: string }>(kit, 'scheduler.create', {
    capability: 'test.count',
    schedule: '30 1 * * *',
    time_zone: 'Europe/Berlin',
  })
  expect(made.next_run_at).toBe('2026-01-01T00:30:00.000Z')
  kit.clock.move(30 * minute)
  await ended(kit, made.schedule_id, 1)
  kit.clock.move(24 * hour)
  const [latest] = await ended(kit, made.schedule_id, 2)
  expect(latest).toMatchObject({ outcome: 'succeeded', late_seconds: 0, missed: 0 })
  expect(calls()).toBe(2)
})

test('runs what was missed once, late, and says so', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const id = await create(kit, { schedule: '0 * * * *' })
  kit.clock.move(5 * hour + 10 * minute)
  const [run] = await ended(kit, id, 1)
  expect(run).toMatchObject({ late_seconds: 4 * 3600 + 600, missed: 4, outcome: 'succeeded' })
  expect(calls()).toBe(1)
  const runs = await runsOf(kit, id)
  expect(runs[0]).toMatchObject({ outcome: 'waiting', scheduled_for: '2026-01-01T06:00:00.000Z' })
})

test('policy, pause and approval are those of the moment it fires', async () => {
  const { capability, calls } = counter()
  const policy = (tier: string) => `version: 1\nrules:\n  - { match: test.count, tier: ${tier} }\n`
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const id = await create(kit, { schedule: '0 * * * *' })
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  kit.clock.move(hour)
  await until(async () =>
    (await kit.audit({ capability: 'test.count' })).find((e) => e.result === 'denied'),
  )
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  expect((await ended(kit, id, 1))[0]).toMatchObject({
    outcome: 'denied',
    detail: { reason: 'agent_paused' },
  })
  await kit.app.savePolicy(kit.operator(), { text: policy('approval_required') })
  kit.clock.move(hour)
  const [held] = await ended(kit, id, 2)
  expect(held?.outcome).toBe('pending_approval')
  const approval_id = String(held?.detail['approval_id'])
  expect(calls()).toBe(0)
  await kit.decide(approval_id, 'approve')
  expect((await kit.resolved('alpha', approval_id)).result).toMatchObject({ success: true })
  await kit.app.savePolicy(kit.operator(), { text: policy('blocked') })
  kit.clock.move(hour)
  expect((await ended(kit, id, 3))[0]).toMatchObject({
    outcome: 'denied',
    detail: { reason: 'blocked' },
  })
  expect(calls()).toBe(1)
})

test('a call over the limit comes again when the limit allows it', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({
    capabilities: [capability],
    policy: 'version: 1\nlimits:\n  - { match: test.count, limit: 1, window: 1m }\n',
  })
  await kit.agent('alpha')
  const id = await create(kit, { delay_seconds: 10 })
  kit.clock.move(9_000)
  await kit.invoke('alpha', 'test.count')
  kit.clock.move(1_000)
  await until(async () => ((await runsOf(kit, id))[0]?.detail['message'] ? true : undefined))
  expect(calls()).toBe(1)
  kit.clock.move(60_000)
  expect((await ended(kit, id, 1))[0]).toMatchObject({ outcome: 'succeeded' })
  expect(calls()).toBe(2)
})

test('the schedules of a revoked agent stop, and stay stopped when it comes back', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  await kit.agent('beta')
  await create(kit, { schedule: '0 * * * *' })
  await kit.invoke('beta', 'scheduler.create', { capability: 'test.count', schedule: '0 * * * *' })
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  const { schedules } = await kit.app.listSchedules(kit.operator(), { limit: 10, offset: 0 })
  expect(schedules.map(({ agent, status }) => `${agent} ${status}`).toSorted()).toEqual([
    'alpha stopped',
    'beta active',
  ])
  await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
  kit.clock.move(hour)
  await until(() => (calls() > 0 ? true : undefined))
  kit.clock.move(hour)
  await until(() => (calls() > 1 ? true : undefined))
  expect((await kit.audit({ agent: 'alpha', capability: 'test.count' })).length).toBe(0)
})

test('rotating the token of an agent does not end its schedules', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const id = await create(kit, { delay_seconds: 60 })
  const { token } = await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })
  kit.clock.move(minute)
  await until(() => (calls() === 1 ? true : undefined))
  await kit.authenticate(token)
  expect((await ended(kit, id, 1))[0]).toMatchObject({ outcome: 'succeeded' })
})

test('what can never run is refused at once', async () => {
  const { capability } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const refused = async (args: object) => {
    const outcome = await kit.invoke('alpha', 'scheduler.create', {
      capability: 'test.count',
      ...args,
    })
    return outcome.kind === 'failed' ? outcome.error.type : outcome.kind
  }
  expect(await refused({})).toBe('InvalidArguments')
  expect(await refused({ delay_seconds: 60, run_at: '2027-01-01T00:00:00Z' })).toBe(
    'InvalidArguments',
  )
  expect(await refused({ delay_seconds: 60, arguments: { by: 'x' } })).toBe('InvalidArguments')
  expect(await refused({ delay_seconds: 60, capability: 'test.cuont' })).toBe('UnknownCapability')
  expect(await refused({ schedule: '* * * * * *' })).toBe('InvalidSchedule')
  expect(await refused({ schedule: '0 0 30 2 *' })).toBe('InvalidSchedule')
  expect(await refused({ schedule: '0 0 * * *', time_zone: 'Mars/Olympus' })).toBe(
    'InvalidSchedule',
  )
  expect(await refused({ run_at: '2025-12-31T23:59:59Z' })).toBe('InvalidSchedule')
  expect(await refused({ run_at: '2026-01-02T00:00:00', time_zone: 'Europe/Berlin' })).toBe(
    'InvalidSchedule',
  )
  expect(await refused({ run_at: '2026-01-02T00:00:00+01:00' })).toBe('succeeded')
})

test('an agent sees and ends only its own; an operator ends any, and the log says who', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  await kit.agent('beta')
  const [first, second] = [
    await create(kit, { delay_seconds: 60 }),
    await create(kit, { delay_seconds: 60 }),
  ]
  for (const name of ['scheduler.history', 'scheduler.delete'])
    expect(await kit.invoke('beta', name, { schedule_id: first })).toMatchObject({
      kind: 'failed',
      error: { type: 'ScheduleNotFound' },
    })
  await dataOf(kit, 'scheduler.delete', { schedule_id: first })
  const deleted = await kit.app.deleteSchedule(kit.operator('ana'), { schedule_id: second })
  expect(deleted).toMatchObject({ status: 'deleted', next_run_at: null })
  expect(await kit.audit({ capability: 'schedule.deleted' })).toMatchObject([
    { actor: 'user:ana', agent: 'alpha', arguments: { schedule_id: second } },
  ])
  kit.clock.move(hour)
  expect((await runsOf(kit, first))[0]).toMatchObject({
    outcome: 'dropped',
    detail: { reason: 'cancelled' },
  })
  expect(calls()).toBe(0)
})

test('at most so many schedules are active for one agent', async () => {
  const { capability } = counter()
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  for (let n = 0; n < 100; n += 1) await create(kit, { delay_seconds: 600 })
  const one = { capability: 'test.count', delay_seconds: 600 }
  expect(await kit.invoke('alpha', 'scheduler.create', one)).toMatchObject({
    error: { type: 'QuotaExceeded' },
  })
})

test('a run that died is reported, is not repeated, and the next one comes', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({
    capabilities: [capability],
    startsLater: true,
  })
  await kit.agent('alpha')
  const id = await create(kit, { schedule: '0 * * * *' })
  kit.clock.move(hour)
  const claim = {
    owner: kit.parts.node,
    dueMs: kit.clock.wall(),
    leaseMs: kit.clock.now() + minute,
    limit: 1,
  }
  // The last run of this node claimed the job, and nobody heard of it again.
  await kit.storage.jobs.claim({ kinds: ['scheduled_call'], awaySites: [], ...claim })
  await kit.app.start()
  const runs = await runsOf(kit, id)
  expect(runs.map((run) => run.outcome)).toEqual(['waiting', 'interrupted'])
  expect(await kit.audit({ capability: 'job.interrupted' })).toMatchObject([
    { agent: 'alpha', result: 'error', arguments: { subject: id } },
  ])
  expect(calls()).toBe(0)
  kit.clock.move(hour)
  await until(() => (calls() === 1 ? true : undefined))
})

/** The store of the application, or one part of it, as the test makes it. */
const through =
  (change: (storage: Storage) => Storage): NonNullable<KitOptions['ports']> =>
  (name, port) =>
    name === 'storage' ? (change(port as unknown as Storage) as never) : port

/** A failure of the store, once it is asked for; it says when it has come. */
const oneFailure = () => {
  let wanted = false
  return {
    next: () => {
      wanted = true
    },
    come: () => until(() => !wanted),
    takes: () => {
      if (!wanted) return
      wanted = false
      throw new Error('the store is away')
    },
  }
}

test.each([
  ['before its time was replaced', 'find', 0],
  ['after its call was made', 'prune', 1],
] as const)(
  'a run in which the store fails %s is interrupted, and the next one comes',
  async (_when, fails, made) => {
    const { capability, calls } = counter()
    const failure = oneFailure()
    await using kit = await createKit({
      capabilities: [capability],
      ports: through((storage) =>
        replacing(storage, {
          schedules: replacing(storage.schedules, {
            async find(id) {
              if (fails === 'find') failure.takes()
              return storage.schedules.find(id)
            },
            // What looks for schedules without a job is not to hide one that is left so.
            listStalled: async () => [],
          }),
          jobs: replacing(storage.jobs, {
            async prune(endedMs, trim) {
              if (fails === 'prune' && trim) failure.takes()
              await storage.jobs.prune(endedMs, trim)
            },
          }),
        }),
      ),
    })
    await kit.agent('alpha')
    const id = await create(kit, { schedule: '0 * * * *' })
    failure.next()
    kit.clock.move(hour)
    await failure.come()
    await ended(kit, id, 1)
    const runs = await runsOf(kit, id)
    expect(runs).toMatchObject([
      { outcome: 'waiting', scheduled_for: '2026-01-01T02:00:00.000Z' },
      { outcome: 'interrupted', detail: {} },
    ])
    expect(await kit.audit({ capability: 'job.interrupted' })).toMatchObject([
      { agent: 'alpha', result: 'error', arguments: { subject: id } },
    ])
    expect(calls()).toBe(made)
    kit.clock.move(hour)
    await ended(kit, id, 2)
    expect(calls()).toBe(made + 1)
  },
)

test('a schedule in a time zone that is unknown by now ends, and holds up nothing', async () => {
  const { capability, calls } = counter()
  let isKnown = true
  await using kit = await createKit({
    capabilities: [capability],
    ports: (name, port) =>
      name === 'calendar'
        ? (replacing<Calendar>(port as unknown as Calendar, {
            next(...given) {
              if (isKnown) return (port as unknown as Calendar).next(...given)
              throw new GatehouseError('InvalidSchedule', { detail: 'there is no such time zone' })
            },
          }) as never)
        : port,
  })
  await kit.agent('alpha')
  const id = await create(kit, { schedule: '0 * * * *' })
  isKnown = false
  kit.clock.move(hour)
  expect((await ended(kit, id, 1)).map(({ outcome }) => outcome)).toEqual(['interrupted'])
  const list = await dataOf<{ schedules: object[] }>(kit, 'scheduler.list', {})
  expect(list.schedules).toMatchObject([{ schedule_id: id, status: 'done', next_run_at: null }])
  expect(calls()).toBe(0)
})

/** Interrupts the run that is due, and leaves its schedule where it was, as earlier versions could. */
const stall = async (kit: Kit): Promise<void> => {
  const [job] = await kit.storage.jobs.claim({
    ...{ kinds: ['scheduled_call'], awaySites: [], owner: kit.parts.node, limit: 1 },
    ...{ dueMs: kit.clock.wall(), leaseMs: kit.clock.now() + minute },
  })
  if (!job) throw new Error('no job is due')
  const ended = { owner: null, lease_ms: null, finished_ms: kit.clock.wall() }
  await kit.storage.jobs.replace(job, { ...job, ...ended, state: 'interrupted' })
}

test('a schedule that was left without a job goes on at the next start', async () => {
  const { capability, calls } = counter()
  await using kit = await createKit({ capabilities: [capability], startsLater: true })
  await kit.agent('alpha')
  const once = await create(kit, { delay_seconds: 3600 })
  kit.clock.move(hour)
  await stall(kit)
  const id = await create(kit, { schedule: '0 * * * *' })
  kit.clock.move(hour)
  await stall(kit)
  await kit.app.start()
  await until(async () => (await runsOf(kit, id))[0]?.outcome === 'waiting')
  const list = await dataOf<{ schedules: object[] }>(kit, 'scheduler.list', {})
  expect(list.schedules).toMatchObject([
    { schedule_id: id, status: 'active', next_run_at: '2026-01-01T03:00:00.000Z' },
    { schedule_id: once, status: 'done', next_run_at: null },
  ])
  expect(calls()).toBe(0)
  kit.clock.move(hour)
  await until(() => calls() === 1)
})

test('a schedule that another node lets go on meanwhile has one next run', async () => {
  const { capability } = counter()
  let found: readonly StoredSchedule[] = []
  const other: { start?: () => Promise<void> } = {}
  await using kit = await createKit({
    capabilities: [capability],
    startsLater: true,
    ports: through((storage) =>
      replacing(storage, {
        schedules: replacing(storage.schedules, {
          async listStalled(...given) {
            const listed = await storage.schedules.listStalled(...given)
            await other.start?.()
            found = listed
            return listed
          },
        }),
      }),
    ),
  })
  await kit.agent('alpha')
  const id = await create(kit, { schedule: '0 * * * *' })
  kit.clock.move(hour)
  await stall(kit)
  const { storage, clock, ids, calendar } = kit.parts
  other.start = () => resumeStalled({ storage, clock, ids, calendar })
  await kit.app.start()
  await until(() => found.length > 0)
  // What was found is moved on in the turn of the store after this one.
  await storage.transaction(async () => {})
  expect((await runsOf(kit, id)).map(({ outcome }) => outcome)).toEqual(['waiting', 'interrupted'])
})
