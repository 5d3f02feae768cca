import type { Approval, ApprovalId, SessionId } from '@gatehouse/contract'
import type { StoredApproval } from '../ports/approvals.ts'

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
  ...(a.edit ? { edit: a.edit } : {}),
})
