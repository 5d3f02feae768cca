import type { GatehouseEvent } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Gates } from '../../ports/gates.ts'
import type { Log } from '../../ports/log.ts'
import { ApprovalSignals } from './approval-signals.ts'
import { recordDelivery, recordPolled, resolvedApproval } from './record-delivery.ts'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
`
const args = { key: 'a', value: 1 }

/** A request of `alpha`, in a service that runs nothing that is approved. */
const open = async () => {
  const kit = await createKit({ policy, runsApproved: false })
  await kit.agent('alpha')
  await kit.agent('beta')
  const id = await kit.pending('alpha', 'state.set', args)
  return { kit, id, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() }
}
const delivered = async (kit: Kit, id: string) => (await kit.storage.approvals.find(id))?.delivered
const gone = () => ({ gone: AbortSignal.abort() })

test('an agent withdraws what it asked for, once, on record; nobody else does', async () => {
  await using made = await open()
  const { kit, id } = made
  const cancel = (agent = 'alpha', approval_id = id) =>
    kit.app.cancelApproval(kit.op(agent), { approval_id })
  const unknown = { type: 'ApprovalNotFound', facts: { approval_id: id } }
  await expect(cancel('beta')).rejects.toMatchObject(unknown)
  await expect(cancel('alpha', 'appr-nothing')).rejects.toMatchObject({ type: 'ApprovalNotFound' })
  const told: string[] = []
  using _listening = kit.app.subscribeApprovals(({ status }) => void told.push(status))
  await cancel()
  await cancel()
  expect(told).toEqual(['cancelled'])
  expect(await kit.storage.approvals.find(id)).toMatchObject({
    status: 'cancelled',
    decided_by: 'agent:alpha',
    decided_ms: kit.clock.wall(),
  })
  expect(await kit.audit({ capability: 'approval.cancelled' })).toMatchObject([
    {
      actor: 'agent:alpha',
      agent: 'alpha',
      approval_id: id,
      arguments: { approval_id: id, capability: 'state.set' },
    },
  ])
})

test('what is decided is not withdrawn any more', async () => {
  await using made = await open()
  const { kit, id } = made
  await kit.decide(id, 'reject')
  await expect(kit.app.cancelApproval(kit.op('alpha'), { approval_id: id })).rejects.toMatchObject({
    type: 'ApprovalNotPending',
    facts: { approval_id: id, status: 'rejected' },
  })
  expect((await kit.storage.approvals.find(id))?.status).toBe('rejected')
})

test('an outcome is handed over once somebody reads it, and by no other look', async () => {
  await using made = await open()
  const { kit, id } = made
  const look = (agent: string, change = {}) =>
    kit.app.getApprovalOutcome(kit.op(agent, change), { approval_id: id })
  await look('alpha')
  expect(await delivered(kit, id)).toBe('no')
  await kit.decide(id, 'reject')
  await look('alpha', gone())
  await kit.app.followApproval(kit.op('alpha'), { approval_id: id, deliver: false })
  await kit.app.followApproval(kit.op('alpha', gone()), { approval_id: id, deliver: true })
  await expect(look('beta')).rejects.toMatchObject({ type: 'ApprovalNotFound' })
  expect(await delivered(kit, id)).toBe('no')
  expect(await look('alpha')).toMatchObject({
    ...{ approval_id: id, status: 'rejected', arguments: args, effective_arguments: args },
  })
  expect(await delivered(kit, id)).toBe('yes')
  expect(await kit.pending('alpha', 'state.set', args)).not.toBe(id)
})

test('how a request stands is shown to its agent alone, and is handed over where it is asked to be', async () => {
  await using made = await open()
  const { kit, id } = made
  const iso = (ms: number) => new Date(ms).toISOString()
  const askedMs = kit.clock.wall()
  const follow = (agent = 'alpha') =>
    kit.app.followApproval(kit.op(agent), { approval_id: id, deliver: true })
  await expect(follow('beta')).rejects.toMatchObject({ type: 'ApprovalNotFound' })
  const stored = await kit.storage.approvals.find(id)
  const shown = {
    approval_id: id,
    capability: 'state.set',
    status: 'pending',
    requested_at: iso(askedMs),
    changed_at: iso(askedMs),
    expires_at: iso(stored?.expires_wall_ms ?? 0),
    decision_reason: null,
    pending: expect.objectContaining({ status: 'pending_approval', approval_id: id }) as object,
    result: null,
    text: null,
    note: undefined,
  }
  expect(await follow()).toEqual(shown)
  kit.clock.move(5_000)
  await kit.decide(id, 'reject', { reason: 'no' })
  expect(await follow()).toEqual({
    ...shown,
    status: 'rejected',
    changed_at: iso(askedMs + 5_000),
    decision_reason: 'no',
    result: expect.objectContaining({ success: false }) as object,
  })
  expect(await delivered(kit, id)).toBe('yes')
})

test('what a client asked to do by itself stays undelivered: nobody has used its permission yet', async () => {
  await using made = await open()
  const { kit, id } = made
  const before = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  const own = { ...before, id: 'appr-client', capability: 'client.bash', call_key: 'client' }
  await kit.storage.approvals.insert({ ...own, status: 'rejected' })
  await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: 'appr-client' })
  expect(await delivered(kit, 'appr-client')).toBe('no')
})

test('outcomes among the events that an agent asked for are handed over with them', async () => {
  await using made = await open()
  const { kit, id } = made
  await kit.decide(id, 'reject')
  const event = (type: string, data: Record<string, unknown>) => ({ type, data }) as GatehouseEvent
  const others = [
    event('message.received', { approval_id: id }),
    event('approval.resolved', { approval_id: 7 }),
    event('approval.resolved', { approval_id: 'appr-nothing' }),
  ]
  expect(others.map(resolvedApproval)).toEqual([null, null, 'appr-nothing'])
  await recordPolled(kit, others)
  expect(await delivered(kit, id)).toBe('no')
  await recordPolled(kit, [...others, event('approval.resolved', { approval_id: id })])
  expect(await delivered(kit, id)).toBe('yes')
})

test('a delivery is recorded over what changed meanwhile, and only of what is resolved', async () => {
  await using made = await open()
  const { kit, id } = made
  const { approvals } = kit.storage
  const pending = (await approvals.find(id)) ?? expect.fail('nothing stored')
  await recordDelivery(approvals, pending)
  expect(await delivered(kit, id)).toBe('no')
  const rejected = { ...pending, status: 'rejected' } as const
  await approvals.replace(pending, rejected)
  const next = { ...rejected, execution: 'refused' } as const
  await approvals.replace(rejected, next)
  // What was read is older than what is stored by now.
  await recordDelivery(approvals, rejected)
  expect(await approvals.find(id)).toMatchObject({ execution: 'refused', delivered: 'yes' })
})

test('a wait ends with the decision, with its time, or with the caller, and looks for other nodes', async () => {
  await using made = await open()
  const { kit, id } = made
  const ending = new AbortController()
  const wait = (timeout_ms: number, change = {}) =>
    kit.app.waitApprovalOutcome(kit.op('alpha', change), { approval_id: id, timeout_ms })
  expect(await wait(0)).toMatchObject({ status: 'pending' })
  expect(await wait(60_000, gone())).toMatchObject({ status: 'pending' })
  const startMs = kit.clock.now()
  let ended = 0
  const ends = async <T>(one: Promise<T>): Promise<T> => {
    const outcome = await one
    ended += 1
    return outcome
  }
  const endedWith = (stepMs: number, count: number) =>
    expect
      .poll(() => {
        kit.clock.move(stepMs)
        return ended
      })
      .toBe(count)
  const other = await kit.pending('alpha', 'state.set', { key: 'b', value: 1 })
  const told = kit.app.waitApprovalOutcome(kit.op('alpha'), {
    ...{ approval_id: other, timeout_ms: 1e9 },
  })
  await kit.decide(other, 'reject')
  expect(await told).toMatchObject({ approval_id: other, status: 'rejected' })
  const decided = ends(wait(1e9))
  const left = ends(wait(1e9, { signal: ending.signal }))
  void ends(wait(2_000))
  await endedWith(500, 1)
  expect(kit.clock.now() - startMs).toBeGreaterThanOrEqual(2_000)
  ending.abort()
  expect(await left).toMatchObject({ status: 'pending' })
  // Another node decides: nothing tells this one.
  const current = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  await kit.storage.approvals.replace(current, { ...current, status: 'rejected' })
  await endedWith(1_000, 3)
  expect(await decided).toMatchObject({ approval_id: id, status: 'rejected' })
  expect(await delivered(kit, id)).toBe('yes')
  await expect(
    kit.app.waitApprovalOutcome(kit.op('beta'), { approval_id: id, timeout_ms: 0 }),
  ).rejects.toMatchObject({ type: 'ApprovalNotFound', facts: { approval_id: id } })
})

test('the agent hears of the outcome once, with what it was about', async () => {
  await using made = await open()
  const { kit, id } = made
  const events: GatehouseEvent[] = []
  using _listening = kit.app.subscribeEvents('alpha', (event) => events.push(event) > 0)
  const approved = await kit.pending('alpha', 'state.set', { key: 'b', value: 1 })
  await kit.decide(approved, 'approve')
  expect(events).toEqual([])
  await kit.decide(id, 'reject')
  await kit.decide(id, 'reject')
  expect(events).toMatchObject([
    {
      type: 'approval.resolved',
      data: { approval_id: id, status: 'rejected', capability: 'state.set', text: null },
    },
  ])
})

test('a listener that fails keeps no other from hearing, and other gates hear of it once', () => {
  const failed: unknown[] = []
  const told: unknown[] = []
  let fromGates: (news: { approval: StoredApproval }) => void = () => {}
  const signals = new ApprovalSignals({
    log: { error: (facts: object, text: string) => failed.push([facts, text]) } as unknown as Log,
    gates: {
      tell: (news: unknown) => told.push(news),
      onNews: (kind: string, listener: typeof fromGates) => {
        expect(kind).toBe('approval')
        fromGates = listener
      },
    } as unknown as Gates,
  })
  const heard: string[] = []
  const fault = new Error('a fault')
  using _failing = signals.on(() => {
    throw fault
  })
  const listening = signals.on(({ id }) => void heard.push(id))
  const approval = { id: 'appr-1' } as StoredApproval
  signals.emit(approval)
  expect(heard).toEqual(['appr-1'])
  expect(told).toEqual([{ kind: 'approval', approval }])
  expect(failed).toEqual([[{ err: fault, approval_id: 'appr-1' }, 'an approval listener failed']])
  fromGates({ approval: { id: 'appr-2' } as StoredApproval })
  expect(heard).toEqual(['appr-1', 'appr-2'])
  expect(told).toHaveLength(1)
  listening[Symbol.dispose]()
  signals.emit(approval)
  expect(heard).toHaveLength(2)
})
