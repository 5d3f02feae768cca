import type { Approval, ApprovalId, SessionId } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import { callFacts } from '../call/audit-draft.ts'
import { type ConsequenceDeps, consequencesOf } from './consequences.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

type Arguments = Record<string, unknown>

/** The arguments of the call as they were sent, and as they run. */
export const argumentsOf = (a: Pick<StoredApproval, 'arguments_json' | 'sent_json'>) => ({
  arguments: parseStored<Arguments>(
    a.sent_json ?? a.arguments_json,
    a.sent_json === null ? 'approvals.arguments_json' : 'approvals.sent_json',
  ),
  effective_arguments: parseStored<Arguments>(a.arguments_json, 'approvals.arguments_json'),
})

/** Names the request that an act is about. */
export const requestFacts = ({
  id: approval_id,
  capability,
  arguments_json,
}: Pick<StoredApproval, 'id' | 'capability' | 'arguments_json'>) => ({
  approval_id,
  ...callFacts('approvals', capability, arguments_json),
})

/** The record that people see. `stale` says what has changed since a pending request was made. */
export const approvalRecord = (
  deps: ConsequenceDeps,
  a: StoredApproval,
  stale: string | null = null,
): Approval => ({
  id: a.id as ApprovalId,
  agent: a.agent as Approval['agent'],
  capability: a.capability,
  ...argumentsOf(a),
  digest: a.digest,
  requested_at: iso(a.requested_ms),
  expires_at: iso(a.expires_wall_ms),
  status: a.status,
  stale,
  session_id: a.session_id as SessionId | null,
  reason: a.reason,
  agent_reason: a.agent_reason,
  rule: a.rule,
  critical: a.critical,
  preview: a.preview,
  consequences: consequencesOf(deps, a.capability, argumentsOf(a).effective_arguments),
  decided_at: a.decided_ms === null ? null : iso(a.decided_ms),
  decided_by: a.decided_by,
  decision_reason: a.decision_reason,
  execution: { state: a.execution, ...(a.result ? { result: a.result } : {}) },
  ...(a.edit ? { edit: a.edit } : {}),
})
