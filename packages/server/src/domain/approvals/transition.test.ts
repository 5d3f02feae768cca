import { expect, test } from 'vitest'
import type { StoredApproval } from './approval.ts'
import { editNote, isOpenCall, isResolved, outcomeOf, resultOf } from './outcome.ts'
import { cancel, decideTransition, isExpired, recentLoginMs } from './transition.ts'

const pending: StoredApproval = {
  id: 'appr-1',
  agent: 'alpha',
  capability: 'filesystem.delete',
  arguments_json: '{}',
  sent_json: null,
  agent_reason: null,
  bound_json: '{}',
  digest: 'sha256:aa',
  call_key: 'k',
  requested_ms: 0,
  expires_ms: 1000,
  expires_wall_ms: 1000,
  status: 'pending',
  session_id: null,
  request_id: 'req-1',
  reason: null,
  rule: null,
  critical: false,
  preview: null,
  decided_ms: null,
  decided_by: null,
  decision_reason: null,
  execution: 'waiting',
  exec_id: null,
  result: null,
  result_text: null,
  delivered: 'no',
  edit: null,
}
const approve = { decision: 'approve', digest: undefined, reason: undefined, by: 'ana' } as const
const now = { nowMs: 10, wallMs: 10 }
const success = { success: true, data: {} } as const

test('a pending approval is approved, with who decided', () => {
  const verdict = decideTransition(pending, approve, now)
  expect(verdict).toMatchObject({
    kind: 'changed',
    next: { status: 'approved', decided_by: 'ana' },
  })
})

test.each(['approved', 'rejected', 'expired', 'cancelled'] as const)(
  'a %s approval never changes',
  (status) => {
    expect(decideTransition({ ...pending, status }, approve, now)).toEqual({ kind: 'not_pending' })
  },
)

test.each([
  { nowMs: 1000, wallMs: 10 },
  { nowMs: 10, wallMs: 1000 },
])('an approval past its time on either clock expires instead ($nowMs, $wallMs)', (moment) => {
  expect(decideTransition(pending, approve, moment)).toMatchObject({
    kind: 'expired',
    next: { status: 'expired', decided_by: 'system', decided_ms: moment.wallMs },
  })
})

test('an approval lives until just before its time on both clocks', () => {
  expect(isExpired(pending, { nowMs: 999, wallMs: 999 })).toBe(false)
  expect(isExpired(pending, { nowMs: 1000, wallMs: 999 })).toBe(true)
})

test.each(['', '  '])('a reason of nothing is none (%j)', (reason) => {
  const rejected = decideTransition(pending, { ...approve, decision: 'reject', reason }, now)
  expect(rejected).toMatchObject({ next: { status: 'rejected', decision_reason: null } })
})

test('a decision keeps who made it, when and why', () => {
  const by = { ...approve, decision: 'reject', reason: 'not today' } as const
  expect(decideTransition(pending, by, now)).toMatchObject({
    next: { status: 'rejected', decided_by: 'ana', decided_ms: 10, decision_reason: 'not today' },
  })
  expect(decideTransition(pending, approve, now)).toMatchObject({ next: { decision_reason: null } })
  expect(cancel(pending, now, 'ben')).toMatchObject({
    status: 'cancelled',
    decided_by: 'ben',
    decided_ms: 10,
  })
})

test('a critical approval wants a login of the last minutes, another one does not', () => {
  const critical = { ...pending, critical: true, expires_ms: 1e9, expires_wall_ms: 1e9 }
  const decide = (approval: StoredApproval, age: number, decision: 'approve' | 'reject') =>
    decideTransition(
      approval,
      { ...approve, decision, digest: 'sha256:aa', login_ms: 5 },
      { nowMs: 5 + age, wallMs: 10 },
    ).kind
  expect(decide(critical, recentLoginMs, 'approve')).toBe('changed')
  expect(decide(critical, recentLoginMs + 1, 'approve')).toBe('login_too_old')
  expect(decide(critical, recentLoginMs + 1, 'reject')).toBe('changed')
  expect(decide({ ...critical, critical: false }, recentLoginMs + 1, 'approve')).toBe('changed')
})

test('a digest that is not the one stored approves nothing, the right one does', () => {
  expect(decideTransition(pending, { ...approve, digest: 'sha256:bb' }, now)).toEqual({
    kind: 'digest_mismatch',
  })
  expect(decideTransition(pending, { ...approve, digest: 'sha256:aa' }, now)).toMatchObject({
    kind: 'changed',
  })
})

test('a critical approval wants the digest, a rejection of it does not', () => {
  const critical = { ...pending, critical: true }
  expect(decideTransition(critical, approve, now)).toEqual({ kind: 'digest_required' })
  expect(decideTransition(critical, { ...approve, decision: 'reject' }, now)).toMatchObject({
    kind: 'changed',
  })
})

test('an interrupted execution tells the agent that the effect is unknown', () => {
  const result = resultOf({ ...pending, status: 'approved', execution: 'interrupted' })
  expect(result).toMatchObject({
    success: false,
    error: { type: 'ExecutionInterrupted', message: expect.stringContaining('while appr-1 ran') },
  })
})

test('an approved request has no result until it has run', () => {
  expect(resultOf({ ...pending, status: 'approved', execution: 'running' })).toBeNull()
  expect(resultOf({ ...pending, result: success })).toBeNull()
})

test('an approved request that has run has the result of the run', () => {
  const ran = { ...pending, status: 'approved', execution: 'succeeded', result: success } as const
  expect(resultOf(ran)).toBe(success)
  expect(outcomeOf(ran)).toEqual({ approval_id: 'appr-1', status: 'approved', result: success })
  const edit = { sent: { to: 'a' }, effective: { to: 'b' } } as unknown as StoredApproval['edit']
  expect(outcomeOf({ ...ran, edit })).toMatchObject({
    edited: { arguments: { to: 'b' }, note: editNote },
  })
  expect(outcomeOf(pending)).toEqual({ approval_id: 'appr-1', status: 'pending' })
})

test.each([
  ['rejected', 'too wide', 'ApprovalRejected', /rejected: too wide/],
  ['rejected', null, 'ApprovalRejected', /rejected: no reason given/],
  ['expired', null, 'ApprovalExpired', /on appr-1 in time/],
  ['cancelled', 'paused', 'ApprovalCancelled', /appr-1 was cancelled: paused/],
  ['cancelled', null, 'ApprovalCancelled', /appr-1 was cancelled\.$/],
] as const)('a %s request (%s) says so to the agent', (status, decision_reason, type, message) => {
  const result = resultOf({ ...pending, status, decision_reason, result: success })
  expect(result).toMatchObject({
    success: false,
    error: { type, message: expect.stringMatching(message) },
  })
})

test('a request is resolved when it was decided against, or has run', () => {
  const runs = ['waiting', 'running', 'succeeded', 'interrupted'] as const
  const states: readonly StoredApproval[] = [
    pending,
    { ...pending, status: 'rejected' },
    ...runs.map((execution) => ({ ...pending, status: 'approved' as const, execution })),
  ]
  expect(states.map(isResolved)).toEqual([false, true, false, false, true, true])
})

test('an identical call joins a request that waits, or whose decision has not reached the agent', () => {
  const open = (status: StoredApproval['status'], delivered: StoredApproval['delivered']) =>
    isOpenCall({ ...pending, status, delivered })
  expect(open('pending', 'yes')).toBe(true)
  expect([open('approved', 'no'), open('rejected', 'no')]).toEqual([true, true])
  expect([open('expired', 'no'), open('cancelled', 'no')]).toEqual([false, false])
  expect([open('approved', 'sending'), open('rejected', 'yes')]).toEqual([false, false])
})
