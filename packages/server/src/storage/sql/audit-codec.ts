import type { IndexRow } from '../../ports/audit-rows.ts'
import type { AuditTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

/** The order of columns in every statement that this folder writes by hand. */
export const auditColumns = [
  'chain',
  'seq',
  'id',
  'timestamp',
  'kind',
  'agent',
  'capability',
  'result',
  'policy_decision',
  'session_id',
  'duration_ms',
  'intent_id',
  'approval_id',
] as const satisfies readonly (keyof AuditTable)[]

/** Callers name unknown capabilities as they like. */
export const toIndexRow = (row: IndexRow): AuditTable => ({
  chain: row.chain,
  seq: row.seq,
  id: row.id,
  timestamp: row.timestamp,
  kind: row.kind,
  agent: encodeText(row.agent),
  capability: encodeText(row.capability),
  result: row.result,
  policy_decision: row.policy_decision,
  session_id: encodeTextOrNull(row.session_id),
  duration_ms: row.duration_ms,
  intent_id: row.intent_id,
  approval_id: encodeTextOrNull(row.approval_id),
})

export const fromIndexRow = (row: AuditTable): IndexRow => ({
  chain: row.chain,
  seq: row.seq,
  id: row.id,
  timestamp: row.timestamp,
  kind: row.kind,
  agent: decodeText(row.agent),
  capability: decodeText(row.capability),
  result: row.result,
  policy_decision: row.policy_decision,
  session_id: decodeTextOrNull(row.session_id),
  duration_ms: row.duration_ms,
  intent_id: row.intent_id,
  approval_id: decodeTextOrNull(row.approval_id),
})
