import { expect, test } from 'vitest'
import type { StoredApproval } from './approval.ts'
import { resultOf } from './outcome.ts'
import { decideTransition } from './transition.ts'

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
    next: { status: 'expired' },
  })
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
  expect(result).toMatchObject({ success: false, error: { type: 'ExecutionInterrupted' } })
})

test('an approved request has no result until it has run', () => {
  expect(resultOf({ ...pending, status: 'approved', execution: 'running' })).toBeNull()
})
