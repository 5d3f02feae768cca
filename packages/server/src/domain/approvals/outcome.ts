import {
  type Approval,
  type ApprovalId,
  type ApprovalOutcome,
  type CapabilityResult,
  GatehouseError,
  type SessionId,
} from '@gatehouse/contract'
import type { StoredApproval } from './approval.ts'
import { failureOf } from '../failure.ts'

const failed = (error: GatehouseError): CapabilityResult => ({ success: false, error: failureOf(error) })

/** Whether nothing more will happen to it: decided against, or run. */
export const isSettled = (approval: StoredApproval): boolean =>
  approval.status === 'approved'
    ? approval.execution !== 'waiting' && approval.execution !== 'running'
    : approval.status !== 'pending'

/** The result that the agent gets, or null while there is none. */
export const resultOf = (approval: StoredApproval): CapabilityResult | null => {
  const approval_id = approval.id
  switch (approval.status) {
    case 'pending':
      return null
    case 'rejected':
      return failed(
        new GatehouseError('ApprovalRejected', { approval_id, reason: approval.decision_reason ?? 'no reason given' }),
      )
    case 'expired':
      return failed(new GatehouseError('ApprovalExpired', { approval_id }))
    case 'cancelled':
      return failed(new GatehouseError('ApprovalCancelled', { approval_id }))
    case 'approved':
      if (approval.execution === 'interrupted')
        return failed(new GatehouseError('ExecutionInterrupted', { approval_id }))
      return isSettled(approval) ? approval.result : null
  }
}

export const outcomeOf = (approval: StoredApproval): ApprovalOutcome => {
  const result = resultOf(approval)
  return { approval_id: approval.id as ApprovalId, status: approval.status, ...(result ? { result } : {}) }
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** The record that people see. */
export const approvalRecord = (a: StoredApproval): Approval => ({
  id: a.id as ApprovalId,
  agent: a.agent as Approval['agent'],
  capability: a.capability,
  arguments: JSON.parse(a.arguments_json) as Record<string, unknown>,
  digest: a.digest,
  requested_at: iso(a.requested_ms),
  expires_at: iso(a.expires_wall_ms),
  status: a.status,
  session_id: a.session_id as SessionId | null,
  reason: a.reason,
  rule: a.rule,
  critical: a.critical,
  preview: a.preview,
  decided_at: a.decided_ms === null ? null : iso(a.decided_ms),
  decided_by: a.decided_by,
  decision_reason: a.decision_reason,
  execution: { state: a.execution, ...(a.result ? { result: a.result } : {}) },
})
