import type { AuditRow } from '../../ports/audit-rows.ts'
import type { AuditTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

/** The order of columns in every statement that this folder writes by hand. */
export const auditColumns = [
  'chain',
  'seq',
  'id',
  'hash',
  'body',
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

/** Callers name unknown capabilities as they like; the body is JSON and needs no escape. */
export const toAuditRow = (row: AuditRow): AuditTable => ({
  chain: row.chain,
  seq: row.seq,
  id: row.id,
  hash: row.hash,
  body: row.body,
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

/** Field by field: verification reads millions of rows, and a spread costs as much as hashing one. */
export const fromAuditRow = (row: AuditTable): AuditRow => ({
  chain: row.chain,
  seq: row.seq,
  id: row.id,
  hash: row.hash,
  body: row.body,
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
