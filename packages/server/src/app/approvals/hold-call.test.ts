import { GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { inTime } from '@gatehouse/testkit/in-time'
import { expect, test, vi } from 'vitest'
import { Hold } from '../call/hold.ts'
import { CallRoom, type Held, MemoryBudget } from '../call/memory-budget.ts'
import type { AgentOp } from '../call/op.ts'
import { memoryOf } from '../call/result-bytes.ts'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
`
const mib = 1024 * 1024
const holdMs = 12_000
const args = { key: 'k', value: 1 }
const never = () => ({ signal: new AbortController().signal })

const openKit = async (more: KitOptions = {}): Promise<Kit> => {
  const settings = { 'approvals.hold': holdMs, 'approvals.ttl': 30 * 86_400_000 }
  const kit = await createKit({ policy, settings, ...more })
  await kit.agent('alpha', 'hold')
  return kit
}

const pending = async (kit: Kit): Promise<readonly string[]> => {
  const filter = { status: 'pending', limit: 100, offset: 0 } as const
  return (await kit.storage.approvals.list(filter)).approvals.map(({ id }) => id)
}

/** A call that stays open, and the id of its request. */
const held = async (kit: Kit, change: Partial<AgentOp> = {}) => {
  const call = kit.invoke('alpha', 'state.set', args, { hold: new Hold(), ...change })
  await expect.poll(() => pending(kit)).toHaveLength(1)
  return { call, id: (await pending(kit))[0] ?? '' }
}

const stepMs = 31_000

const statusOf = async (kit: Kit, id: string) => (await kit.storage.approvals.find(id))?.status
const setOnce = async (kit: Kit) => (await kit.audit({ capability: 'state.set' })).length

test('a call that stays open gets its result once it is approved, and takes nobody’s place meanwhile', async () => {
  await using kit = await openKit()
  let waiting = 0
  const { call, id } = await held(kit, { waiting: () => (waiting += 1) })
  await expect.poll(() => waiting).toBe(1)
  await kit.decide(id, 'approve')
  expect(await call).toMatchObject({ kind: 'succeeded' })
  // Delivered: the same call is another one by now.
  expect(await kit.pending('alpha', 'state.set', args)).not.toBe(id)
  expect(waiting).toBe(1)
})

test('it says how long it waits, every five seconds, and is answered as pending at the bound', async () => {
  await using kit = await openKit()
  const told: unknown[] = []
  let waiting = false
  const { call, id } = await held(kit, {
    progress: (...given) => void told.push(given),
    waiting: () => {
      waiting = true
    },
  })
  await expect.poll(() => waiting).toBe(true)
  let isOver = false
  void call.then(() => {
    isOver = true
  })
  const message = `state.set waits for a person to approve it (${id})`
  for (const n of [1, 2]) {
    kit.clock.move(4_999)
    await new Promise(setImmediate)
    expect(told).toHaveLength(n - 1)
    kit.clock.move(1)
    await expect.poll(() => told.at(n - 1)).toEqual([5 * n, undefined, message])
  }
  expect(isOver).toBe(false)
  kit.clock.move(holdMs - 10_000)
  expect(await call).toMatchObject({ kind: 'pending', pending: { approval_id: id } })
  expect(told).toHaveLength(2)
  expect(await statusOf(kit, id)).toBe('pending')
})

test('what ends the wait is told from what withdraws the request', async () => {
  await using kit = await openKit()
  const cancelled = () => new GatehouseError('Cancelled')
  const ways = [
    ['gone', 'pending', (end: AbortController) => end.abort()],
    ['stops', 'pending', (end: AbortController) => end.abort()],
    ['signal', 'pending', (end: AbortController) => end.abort()],
    ['signal', 'pending', (end: AbortController) => end.abort(new GatehouseError('NotFound'))],
    ['signal', 'cancelled', (end: AbortController) => end.abort(cancelled())],
  ] as const
  for (const [name, status, stop] of ways) {
    const end = new AbortController()
    const change = name === 'stops' ? { hold: new Hold(end.signal) } : { [name]: end.signal }
    const { call, id } = await held(kit, change)
    stop(end)
    expect([name, (await call).kind]).toEqual([name, 'pending'])
    expect([name, await statusOf(kit, id)]).toEqual([name, status])
    // For nothing that was decided a cancellation comes too late.
    if (status === 'pending') await kit.decide(id, 'reject')
    await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })
  }
})

test('a call that is cancelled as it is approved runs, and its result is left for later', async () => {
  await using kit = await openKit()
  const end = new AbortController()
  const { call, id } = await held(kit, { signal: end.signal })
  await kit.decide(id, 'approve')
  end.abort(new GatehouseError('Cancelled'))
  expect(['pending', 'succeeded']).toContain((await call).kind)
  await expect.poll(async () => (await kit.storage.approvals.find(id))?.execution).toBe('succeeded')
  expect(await statusOf(kit, id)).toBe('approved')
})

test('nobody who does not read the answer any more takes it', async () => {
  await using kit = await openKit()
  const gone = new AbortController()
  const { call, id } = await held(kit, { gone: gone.signal })
  gone.abort()
  expect((await call).kind).toBe('pending')
  await kit.decide(id, 'approve')
  await expect.poll(async () => (await kit.storage.approvals.find(id))?.execution).toBe('succeeded')
  expect(await kit.invoke('alpha', 'state.set', args)).toMatchObject({ kind: 'succeeded' })

  // Nor does one whose token was replaced.
  const next = await held(kit)
  await kit.authenticate(
    (await kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 })).token,
  )
  const before = await setOnce(kit)
  await kit.decide(next.id, 'approve')
  expect(await next.call).toMatchObject({ kind: 'pending', pending: { approval_id: next.id } })
  expect(await kit.invoke('alpha', 'state.set', args)).toMatchObject({ kind: 'succeeded' })
  expect(await setOnce(kit)).toBeGreaterThan(before)
})

test('of 65 calls one is answered at once, and a place that was given back is taken again', async () => {
  await using kit = await openKit()
  const leaves = Array.from({ length: 64 }, () => new AbortController())
  const calls = leaves.map(({ signal }, n) =>
    kit.invoke('alpha', 'state.set', { key: `k${n}`, value: n }, { hold: new Hold(), signal }),
  )
  await expect.poll(() => pending(kit)).toHaveLength(64)
  let waiting = 0
  const change = { hold: new Hold(), waiting: () => (waiting += 1) }
  const late = () => kit.invoke('alpha', 'state.set', { key: 'late', value: 1 }, change)
  await expect.poll(async () => (await late()).kind).toBe('pending')
  expect(waiting).toBe(0)
  leaves[0]?.abort()
  expect((await calls[0])?.kind).toBe('pending')
  const again = late()
  await expect.poll(() => waiting).toBe(1)
  for (const leave of leaves) leave.abort()
  await Promise.all(calls)
  expect(await inTime(kit, again, stepMs)).toMatchObject({ kind: 'pending' })
})

test('it takes no memory while it waits, room for its result, and gives that back', async () => {
  const memory = new MemoryBudget({ heldBytesMax: 256 * mib, heldBytesPerAgentMax: 64 * mib })
  await using kit = await openKit({ memory })
  const first = await held(kit)
  await expect.poll(() => memory.used).toBe(0)
  await kit.decide(first.id, 'approve')
  expect(await first.call).toMatchObject({ kind: 'succeeded' })
  expect(memory.used).toBe(0)

  const { call, id } = await held(kit)
  const other = memory.hold('alpha', 0)
  const rooms = [await other.room(64 * mib, never), await other.room(8 * mib, never)]
  await kit.decide(id, 'reject', { reason: 'Not today' })
  expect(await inTime(kit, call, stepMs)).toMatchObject({
    kind: 'pending',
    pending: { approval_id: id },
  })
  for (const room of rooms) room[Symbol.dispose]()
  expect(await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })).toMatchObject({
    status: 'rejected',
  })
})

/** Memory that fails in another way than by being full. */
class Failing extends MemoryBudget {
  cause: Error | null = null

  override hold(agent: string, cost: number): Held {
    const held = super.hold(agent, cost)
    const room: Held['room'] = held.room.bind(held)
    return Object.assign(held, {
      room: (...given: Parameters<typeof room>) => {
        if (this.cause) throw this.cause
        return room(...given)
      },
    })
  }
}

test('its result takes as much as it has, an answer without one nothing', async () => {
  await using kit = await openKit()
  const made = vi.spyOn(CallRoom.prototype, 'made')
  try {
    const { call, id } = await held(kit)
    made.mockClear()
    await kit.decide(id, 'approve')
    const outcome = await call
    if (outcome.kind !== 'succeeded') throw new Error(outcome.kind)
    expect(made.mock.lastCall).toEqual([memoryOf(outcome.data)])
    const next = await held(kit)
    await kit.decide(next.id, 'reject')
    expect((await next.call).kind).toBe('failed')
    expect(made.mock.lastCall).toEqual([0])
  } finally {
    made.mockRestore()
  }
})

test('what fails beside the request is told, and is no answer to it', async () => {
  const memory = new Failing({ heldBytesMax: 256 * mib, heldBytesPerAgentMax: 64 * mib })
  let storing: Error | null = null
  const parts: KitOptions['parts'] = ({ auditLog }) => ({
    auditLog: {
      ...auditLog,
      transaction: (work) => (storing ? Promise.reject(storing) : auditLog.transaction(work)),
    },
  })
  await using kit = await openKit({ memory, parts })
  for (const cause of [
    new Error('broken'),
    new GatehouseError('StorageUnavailable', { detail: 'broken' }),
  ]) {
    const { call, id } = await held(kit)
    await kit.decide(id, 'reject')
    memory.cause = cause
    await expect(call).rejects.toBe(cause)
    memory.cause = null
    await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })

    const end = new AbortController()
    const next = await held(kit, { signal: end.signal })
    storing = cause
    end.abort(new GatehouseError('Cancelled'))
    await expect(next.call).rejects.toBe(cause)
    storing = null
    await kit.decide(next.id, 'reject')
    await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: next.id })
  }
})

test('the session of a call that waits does not end as idle', async () => {
  await using kit = await createKit({
    policy,
    settings: { 'approvals.hold': 7_200_000, 'approvals.ttl': 30 * 86_400_000 },
  })
  await kit.agent('alpha', 'hold')
  const open = () => kit.app.openSession(kit.op('alpha'), { transport: 'mcp-http', client: null })
  const [{ session_id }, idle] = [await open(), await open()]
  const { call, id } = await held(kit, { session_id })
  const ended = async (of: string) => (await kit.storage.sessions.find(of))?.ended_ms !== null
  await expect
    .poll(() => {
      kit.clock.move(600_000)
      return ended(idle.session_id)
    })
    .toBe(true)
  expect(await ended(session_id)).toBe(false)
  await kit.decide(id, 'reject')
  expect((await call).kind).toBe('failed')
  await expect
    .poll(() => {
      kit.clock.move(600_000)
      return ended(session_id)
    })
    .toBe(true)
})

test('beside the call only who went to decide waits for it, or whose calls stay open anyway', async () => {
  await using kit = await openKit()
  await kit.agent('beta')
  const waits = async (agent: string, isOpened: boolean): Promise<boolean> => {
    const approval_id = await kit.pending(agent, 'state.set', { key: agent, value: isOpened })
    let waiting = false
    const op = kit.op(agent, {
      waiting: () => {
        waiting = true
      },
    })
    const done = kit.app.holdForDecision(op, { approval_id, hold: new Hold(), isOpened })
    if (waiting || agent === 'alpha' || isOpened) {
      await expect.poll(() => waiting).toBe(true)
      await kit.decide(approval_id, 'reject')
    }
    await done
    return waiting
  }
  expect([await waits('beta', false), await waits('beta', true)]).toEqual([false, true])
  expect([await waits('alpha', false), await waits('alpha', true)]).toEqual([true, true])
})
