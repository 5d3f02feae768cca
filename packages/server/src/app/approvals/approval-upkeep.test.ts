import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { inTime } from '@gatehouse/testkit/in-time'
import { replacing } from '@gatehouse/testkit/replacing'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { closeTicket } from '../../../test/kit/tickets.ts'
import { silent } from '../../log/testing.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Storage } from '../../ports/storage.ts'
import type { Tracing } from '../../ports/tracing.ts'

// Runs of approved calls, the end of requests that nobody answered, and what a crash left: all without anybody's call.

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

/** Runs of tickets.close, each of which ends when the test ends it. */
const heldRuns = () => {
  const ends: (() => void)[] = []
  const run = (ticket: number) =>
    new Promise<{ closed: number }>((resolve) => ends.push(() => resolve({ closed: ticket })))
  return { ends, close: closeTicket({ run }) }
}

/** A service whose store counts what is looked for, and finds or fails as the test wants. */
const open = async (options: KitOptions = {}) => {
  const looks: { readonly atMs: number; readonly isClosing: boolean }[] = []
  /** Failures of looks, and of the next times that an approved call is read. */
  const failing = { looks: null as Error | null, reads: [] as (Error | null)[] }
  /** Rows as a look that took its time has them. */
  const older = { running: [] as StoredApproval[], expired: [] as StoredApproval[] }
  const nudges: (() => void)[] = []
  const stopping = new AbortController()
  const errors: object[] = []
  const told: string[] = []
  const store = (storage: Storage): Storage =>
    replacing(storage, {
      onForeignChange(kind, listener) {
        if (kind === 'approvals') nudges.push(listener)
        return storage.onForeignChange(kind, listener)
      },
      approvals: replacing(storage.approvals, {
        async find(id) {
          const found = await storage.approvals.find(id)
          const failure = found?.status === 'approved' ? failing.reads.shift() : null
          if (failure) throw failure
          return found
        },
        async listExpired(...given) {
          if (failing.looks) throw failing.looks
          return [...(await storage.approvals.listExpired(...given)), ...older.expired]
        },
        async listByExecution(state, max) {
          const askedMs = kit.clock.ms
          const found = await storage.approvals.listByExecution(state, max)
          const isClosing = state === 'running'
          if (isClosing) looks.pop()
          looks.push({ atMs: isClosing ? askedMs : kit.clock.ms, isClosing })
          return isClosing ? [...found, ...older.running] : found
        },
      }),
    })
  const kit: Kit = await createKit({
    policy,
    capabilities: [closeTicket()],
    startsLater: true,
    parts({ signal }) {
      const either = AbortSignal.any([signal, stopping.signal])
      setMaxListeners(0, either)
      return { signal: either }
    },
    log: { ...silent, error: (facts, text) => void errors.push({ ...facts, text }) },
    ports: (name, port) =>
      name === 'storage' ? (store(port as unknown as Storage) as never) : port,
    ...options,
  })
  kit.app.subscribeApprovals(({ id, status, execution }) => {
    told.push(`${id} ${status} ${execution.state}`)
  })
  if (!options.begins) await kit.agent('alpha')
  const stored = async (id: string) =>
    (await kit.storage.approvals.find(id)) ?? expect.fail(`there is no ${id}`)
  return {
    ...{ kit, stopping, looks, failing, older, nudges, errors, told, stored },
    ask: (ticket: number, agent = 'alpha') =>
      kit.pending(agent, 'tickets.close', { ticket, secret: 'hidden' }),
    approve: async (id: string) => void (await kit.decide(id, 'approve')),
    /** What a node leaves that dies while it runs an approved call. */
    async leaveRunning(id: string, node = kit.parts.node) {
      const [before, exec_id] = [await stored(id), `${node}:aud-7`]
      const running = { ...before, status: 'approved', execution: 'running', exec_id } as const
      await kit.storage.approvals.replace(before, running)
      return running
    },
    /** Lets time pass until this is so. */
    passTimeUntil: (isSo: () => boolean | Promise<boolean>) =>
      expect
        .poll(() => {
          kit.clock.move(1_000)
          return isSo()
        })
        .toBe(true),
    entriesOf: async (id: string) =>
      (await kit.audit()).filter(({ approval_id }) => approval_id === id),
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Waits for two further looks: all that the first of them began with is done. */
const lookTwice = async ({ looks, passTimeUntil }: Opened): Promise<void> => {
  const before = looks.length
  await passTimeUntil(() => looks.length >= before + 2)
}

test('runs that this node left are closed at its start, on record, and never run again', async () => {
  await using made = await open()
  const { kit, told, stored } = made
  const id = await made.ask(7)
  const foreign = await made.ask(8)
  await made.leaveRunning(id)
  const other = await made.leaveRunning(foreign, 'node-other')
  const events: unknown[] = []
  using _events = kit.parts.events.subscribe(({ type, data }) => void events.push([type, data]))
  told.length = 0
  await kit.app.start()
  const error = { type: 'ExecutionInterrupted' }
  expect(await stored(id)).toMatchObject({ execution: 'interrupted', result: { error } })
  expect(await stored(foreign)).toEqual(other)
  expect(told).toEqual([`${id} approved interrupted`])
  expect(events).toMatchObject([['approval.resolved', { approval_id: id }]])
  await lookTwice(made)
  const [entry, ...before] = await made.entriesOf(id)
  expect(entry).toMatchObject({
    ...{ agent: 'alpha', actor: 'agent:alpha', capability: 'tickets.close', kind: 'call' },
    ...{ arguments: { ticket: 7, secret: expect.stringMatching(/^hmac-sha256:/) as string } },
    ...{ result: 'error', error, policy_decision: 'approval_required', rule: { line: 3 } },
    ...{ approval_id: id, intent_id: 'aud-7', request_id: 'req-agent' },
  })
  expect(before.map(({ result }) => result)).toEqual(['pending'])
})

test('a run whose claim was not heard of is closed within seconds, and one under way never', async () => {
  const { ends, close } = heldRuns()
  await using made = await open({ capabilities: [close] })
  const { kit, looks, stored } = made
  await kit.app.start()
  const id = await made.ask(1)
  await made.approve(id)
  await expect.poll(() => ends.length).toBe(1)
  const unheard = await made.ask(2)
  await made.leaveRunning(unheard)
  await made.passTimeUntil(async () => (await stored(unheard)).execution === 'interrupted')
  await lookTwice(made)
  expect((await stored(id)).execution).toBe('running')
  ends[0]?.()
  expect(await kit.resolved('alpha', id)).toMatchObject({ result: { success: true } })
  // Nobody looks for them in each look: it is a question to the store.
  await made.passTimeUntil(() => looks.filter(({ isClosing }) => isClosing).length > 3)
  expect(looks.some(({ isClosing }) => !isClosing)).toBe(true)
  let closedMs = looks.find(({ isClosing }) => isClosing)?.atMs ?? 0
  for (const { atMs, isClosing } of looks.slice(1)) {
    expect([atMs, isClosing]).toEqual([atMs, atMs - closedMs >= 5_000])
    if (isClosing) closedMs = atMs
  }
})

test('a run that ended while somebody looked for those that were left stays as it ended', async () => {
  await using made = await open()
  const id = await made.ask(1)
  const before = await made.leaveRunning(id)
  made.older.running.push(before)
  const ended = { ...before, execution: 'succeeded', result: { success: true, data: {} } } as const
  await made.kit.storage.approvals.replace(before, ended)
  made.told.length = 0
  await made.kit.app.start()
  await lookTwice(made)
  expect(await made.stored(id)).toMatchObject({ execution: 'succeeded' })
  expect([made.told, made.errors]).toEqual([[], []])
  expect((await made.entriesOf(id)).map(({ result }) => result)).toEqual(['pending'])
})

test('people are told of both requests where an edited call was interrupted', async () => {
  await using made = await open({ runsApproved: false })
  const { kit, told } = made
  const id = await made.ask(1)
  await kit.decide(id, 'approve', { arguments: { ticket: 2 } })
  const request = String((await made.stored(id)).edit?.request)
  await made.leaveRunning(request)
  told.length = 0
  await kit.app.start()
  expect(told).toEqual([`${request} approved interrupted`, `${id} approved interrupted`])
})

test('requests that nobody answered in time expire, on record, and those who wait hear of it', async () => {
  await using made = await open({ settings: { 'approvals.ttl': 60_000 } })
  const { kit, told, stored } = made
  const id = await made.ask(1)
  const decided = await made.ask(2)
  const pending = await stored(decided)
  await kit.decide(decided, 'reject')
  // Somebody decides while a look is under way.
  made.older.expired.push(pending)
  await kit.app.start()
  told.length = 0
  kit.clock.move(59_000)
  expect((await stored(id)).status).toBe('pending')
  await made.passTimeUntil(async () => (await stored(id)).status === 'expired')
  await lookTwice(made)
  expect([told, made.errors]).toEqual([[`${id} expired waiting`], []])
  expect(await stored(decided)).toMatchObject({ status: 'rejected' })
  const entries = await Promise.all([id, decided].map(made.entriesOf))
  expect(entries.map((all) => all.map(({ capability }) => capability))).toEqual([
    ['approval.expired', 'tickets.close'],
    ['approval.rejected', 'tickets.close'],
  ])
  expect(entries[0]?.[0]).toMatchObject({
    ...{ actor: 'system', agent: 'alpha', result: 'rejected' },
    arguments: { approval_id: id, capability: 'tickets.close' },
  })
})

test('what another node approves is looked at as soon as that is known', async () => {
  await using made = await open({ runsApproved: false })
  const { kit, nudges, looks } = made
  const id = await made.ask(1)
  await kit.app.start()
  await expect.poll(() => looks.length).toBeGreaterThan(1)
  await made.approve(id)
  for (const nudge of nudges) nudge()
  expect(await kit.resolved('alpha', id)).toMatchObject({ result: { success: true } })
})

test('a look that fails is followed by another, and is reported where the store did not say why', async () => {
  await using made = await open({ runsApproved: false })
  const { kit, failing, errors } = made
  await kit.app.start()
  failing.looks = new GatehouseError('StorageUnavailable', {})
  const id = await made.ask(1)
  await made.approve(id)
  for (let seconds = 0; seconds < 20; seconds += 1) {
    kit.clock.move(1_000)
    await new Promise(setImmediate)
  }
  expect([errors, (await made.stored(id)).execution]).toEqual([[], 'waiting'])
  failing.looks = new Error('a fault')
  await made.passTimeUntil(() => errors.length > 0)
  expect(errors[0]).toEqual({ err: failing.looks, text: 'looking after approvals failed' })
  failing.looks = null
  await made.passTimeUntil(async () => (await made.stored(id)).execution === 'succeeded')
})

test('an approved call that cannot be read or run at once is told to the operator, and runs later', async () => {
  await using made = await open()
  const { kit, failing, errors } = made
  await kit.app.start()
  const err = new Error('a fault')
  for (const [ticket, reads, text] of [
    [1, [err], 'an approved call could not be read'],
    [2, [null, err], 'an approved call could not be run'],
  ] as const) {
    const id = await made.ask(ticket)
    errors.length = 0
    failing.reads.push(...reads)
    await made.approve(id)
    await expect.poll(() => errors).toEqual([{ err, approval_id: id, text }])
    await made.passTimeUntil(async () => (await made.stored(id)).execution === 'succeeded')
    expect(errors).toHaveLength(1)
  }
})

test('at most 64 approved calls run at once, and the next one begins when one of them ends', async () => {
  const { ends, close } = heldRuns()
  await using made = await open({ capabilities: [close] })
  await made.kit.app.start()
  const agents = ['alpha', ...Array.from({ length: 8 }, (_, n) => `agent-${n}`)]
  for (const agent of agents.slice(1)) await made.kit.agent(agent)
  for (const agent of agents)
    for (let ticket = 0; ticket < 8; ticket += 1) await made.approve(await made.ask(ticket, agent))
  await lookTwice(made)
  expect(ends).toHaveLength(64)
  for (let ended = 0; ended < 72; ended += 1) {
    ends[ended]?.()
    await expect.poll(() => ends.length).toBe(Math.min(65 + ended, 72))
  }
})

test('each run of an approved call is a span of its own where spans are wanted', async () => {
  const spans: unknown[] = []
  const tracing: Tracing = {
    async span({ name, facts }, work) {
      spans.push([name, facts])
      return await work(() => {})
    },
    [Symbol.asyncDispose]: async () => {},
  }
  await using made = await open({ tracing })
  await made.kit.app.start()
  const id = await made.ask(1)
  await made.approve(id)
  expect(await made.kit.resolved('alpha', id)).toMatchObject({ result: { success: true } })
  expect(spans).toContainEqual(['execute approval', { 'gatehouse.approval_id': id }])
})

/** Stops what runs by itself, which waits for what the test does then; then the rest of the service. */
const stop = async (
  { kit, stopping }: Opened,
  whileStopping: (isStopped: () => boolean) => unknown,
): Promise<void> => {
  let isStopped = false
  stopping.abort()
  const stopped = kit.app.stopped().then(() => {
    isStopped = true
  })
  for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  await whileStopping(() => isStopped)
  await stopped
  await inTime(kit, kit[Symbol.asyncDispose](), 2_000)
}

test('a service that stops stores the outcomes of its runs first, and begins no other', async () => {
  const { ends, close } = heldRuns()
  const leaves = join(makeTemporaryFolder(), 'left')
  const made = await open({ capabilities: [close], leaves })
  await made.kit.app.start()
  const ids = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map((ticket) => made.ask(ticket)))
  for (const id of ids) await made.approve(id)
  await expect.poll(() => ends.length).toBe(8)
  await stop(made, () => {
    for (const end of ends) end()
  })
  expect(ends).toHaveLength(8)

  await using next = await open({ begins: leaves })
  const left = await Promise.all(ids.map(next.stored))
  expect(left.map(({ execution }) => execution).toSorted()).toEqual([
    ...Array.from({ length: 8 }, () => 'succeeded'),
    'waiting',
  ])
})

test('a service that stops waits no longer than seconds for a run, which is interrupted then', async () => {
  const { ends, close } = heldRuns()
  const leaves = join(makeTemporaryFolder(), 'left')
  const made = await open({ capabilities: [close], leaves })
  await made.kit.app.start()
  const id = await made.ask(1)
  await made.approve(id)
  await expect.poll(() => ends.length).toBe(1)
  await stop(made, (isStopped) =>
    expect
      .poll(() => {
        made.kit.clock.move(2_000)
        return isStopped()
      })
      .toBe(true),
  )

  await using next = await open({ begins: leaves })
  expect(await next.stored(id)).toMatchObject({ execution: 'running' })
  await next.kit.app.start()
  expect(await next.stored(id)).toMatchObject({ execution: 'interrupted' })
})
