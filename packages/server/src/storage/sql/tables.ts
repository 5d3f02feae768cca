import type { Kysely } from 'kysely'

/** 0 or 1: both engines have small integers, only one has booleans. */
export type Flag = 0 | 1

export type AgentsTable = {
  name: string
  purpose: string
  status: string
  approvals: string
  workspace: string
  mounts: string
  created_ms: number
  last_connected_ms: number | null
  total_invocations: number
  token_hash: string
  previous_token_hash: string | null
  previous_until_ms: number | null
  generation: number
}

export type SessionsTable = {
  id: string
  agent: string
  transport: string
  client: string | null
  created_ms: number
  ended_ms: number | null
  invocations: number
}

export type ApprovalsTable = {
  id: string
  agent: string
  capability: string
  arguments_json: string
  bound_json: string
  digest: string
  call_key: string
  requested_ms: number
  expires_ms: number
  expires_wall_ms: number
  status: string
  session_id: string | null
  request_id: string
  reason: string | null
  rule: string | null
  critical: Flag
  preview: string | null
  decided_ms: number | null
  decided_by: string | null
  decision_reason: string | null
  execution: string
  exec_id: string | null
  result: string | null
  result_text: string | null
  delivered: Flag
}

export type UserTokensTable = {
  id: string
  label: string
  role: string
  token_hash: string
  created_ms: number
  last_used_ms: number | null
  revoked_ms: number | null
}

export type MetaTable = { key: string; value: string }

export type AuditTable = {
  chain: string
  seq: number
  id: string
  hash: string
  body: string
  timestamp: string
  kind: string
  agent: string
  capability: string
  result: string
  policy_decision: string | null
  session_id: string | null
  duration_ms: number | null
  intent_id: string | null
  approval_id: string | null
}

/** How many rows there are of each kind in a day. By chain too, so that nodes never wait for each other. */
export type AuditDailyTable = {
  chain: string
  day: string
  agent: string
  capability: string
  kind: string
  result: string
  /** Empty where there was none. */
  policy_decision: string
  rows: number
}

/** Up to where each chain is in `audit_daily`. */
export type AuditFoldedTable = { chain: string; through_seq: number }

export type Tables = {
  agents: AgentsTable
  sessions: SessionsTable
  approvals: ApprovalsTable
  user_tokens: UserTokensTable
  meta: MetaTable
  audit: AuditTable
  audit_daily: AuditDailyTable
  audit_folded: AuditFoldedTable
}

/** Where to read and where to write. One and the same in a transaction, and on PostgreSQL. */
export type Db = { readonly read: Kysely<Tables>; readonly write: Kysely<Tables> }
