import type { Generated, Kysely } from 'kysely'

/** 0 or 1: both engines have small integers, only one has booleans. */
export type Flag = 0 | 1

export type AgentsTable = {
  name: string
  purpose: string
  status: string
  approvals: string
  /** For the version before, which reads it alone. */
  workspace: string
  /** The workspace, relative to the node's folder of workspaces. Null in rows of the version before. */
  folder: string | null
  site: string | null
  mounts: string
  tools: string
  limits: string
  created_ms: number
  last_connected_ms: number | null
  total_invocations: number
  token_hash: string
  token_ms: number
  previous_token_hash: string | null
  previous_until_ms: number | null
  generation: number
  /** Counts inserts and replacements of all agents: a row of a later one has a larger number. */
  change_number: number
}

export type SessionsTable = {
  id: string
  agent: string
  transport: string
  client: string | null
  created_ms: number
  ended_ms: number | null
  invocations: number
  /** When it was used last, up to a minute ago; null before that is known. */
  used_ms: number | null
}

export type SharedEventsTable = {
  id: string
  node: string
  at_ms: number
  event: string
  /** Transaction that stored it, by the engine's own count. */
  stored_by: Generated<number>
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
  /** 0 = no, 1 = yes, 2 = sending. */
  delivered: number
  edit: string | null
  sent_json: string | null
  agent_reason: string | null
}

export type GrantsTable = {
  id: string
  agent: string
  capability: string
  definition_hash: string
  match: string
  call_key: string | null
  arguments_json: string | null
  approval_id: string
  created_ms: number
  created_by: string
  expires_ms: number
  expires_wall_ms: number
  uses_max: number | null
  used: number
  last_used_ms: number | null
  revoked_ms: number | null
  revoked_by: string | null
}

export type UserTokensTable = {
  id: string
  label: string
  role: string
  agent: string | null
  token_hash: string
  created_ms: number
  last_used_ms: number | null
  revoked_ms: number | null
}

export type OperatorsTable = {
  name: string
  role: string
  password_hash: string
  created_ms: number
  password_changed_ms: number
  slot: string | null
}

export type WebSessionsTable = {
  id_hash: string
  operator: string
  created_ms: number
  expires_ms: number
}

export type StateTable = {
  area: string
  key: string
  /** Null once it is deleted. */
  value_json: string | null
  size_bytes: number
  version: number
  updated_ms: number
  updated_by: string
  expires_ms: number | null
}

export type StatePastTable = {
  area: string
  key: string
  version: number
  /** Null where it was deleted, or too large to keep. */
  value_json: string | null
  deleted: Flag
  updated_ms: number
  updated_by: string
}

/** How much an area holds, so that a quota costs the same however much that is. */
export type StateAreasTable = { area: string; keys: number; size_bytes: number }

export type AlertsTable = {
  id: string
  source: string
  kind: string
  severity: string
  message: string
  context_json: string
  dedup_key: string
  status: string
  created_ms: number
  raised_ms: number
  count: number
  acknowledged_ms: number | null
  acknowledged_by: string | null
}

export type ClockTable = {
  id: 1
  ms: number
}

export type MetaTable = { key: string; value: string }

export type AuditCopiesTable = { chain: string; seq: number; hash: string; body: string }

/** The first entry of each chain whose invocations are not counted. */
export type AuditProgressTable = { chain: string; counted: number }

export type JobsTable = {
  id: string
  kind: string
  subject: string
  agent: string
  payload_json: string
  state: string
  due_ms: number
  attempts: number
  attempts_max: number
  owner: string | null
  lease_ms: number | null
  created_ms: number
  started_ms: number | null
  finished_ms: number | null
  outcome_json: string | null
}

export type ProcessesTable = {
  id: string
  agent: string
  node: string
  command: string
  args_json: string
  working_directory: string
  network_json: string
  sandbox: string
  state: string
  exit_code: number | null
  signal: string | null
  detail: string | null
  stdout_bytes: number
  stderr_bytes: number
  cpu_ms: number | null
  memory_bytes_max: number | null
  started_ms: number
  ended_ms: number | null
}

export type SchedulesTable = {
  id: string
  agent: string
  capability: string
  arguments_json: string
  cron: string | null
  time_zone: string
  description: string
  status: string
  next_ms: number | null
  created_ms: number
  ended_ms: number | null
}

export type MessagesTable = {
  id: string
  sender: string
  channel: string | null
  priority: number
  body_json: string
  sent_ms: number
  expires_ms: number
}

/** Deliveries: which message waits for whom. Columns that order and filter stand here, so that a mailbox is one index. */
export type DeliveriesTable = {
  agent: string
  message_id: string
  channel: string | null
  /** Grows as the priority falls. */
  rank: number
  sent_ms: number
  expires_ms: number
}

export type SubscriptionsTable = {
  id: string
  agent: string
  channel: string
  created_ms: number
}

export type WakesTable = {
  id: string
  agent: string
  reason: string | null
  data_json: string | null
  count: number
  woken_ms: number
  told_ms: number | null
  seen_ms: number | null
}

/** Lists and records as JSON. */
export type SecretsTable = {
  id: string
  name: string
  description: string
  capabilities: string
  hosts: string
  agents: string
  version: number
  root_id: string
  wrapped_key: string
  sealed_value: string
  created_ms: number
  rotated_ms: number
  scoped_ms: number
  uses: number
  last_use: string | null
  rotation_request: string | null
}

export type ModelsTable = {
  node: string
  id: string
  source: string
  sha256: string
  size_bytes: number
  entry_json: string
  header_json: string
  installed_ms: number
  verified_ms: number
  problem: string | null
}

export type UpstreamsTable = {
  name: string
  config_json: string
  accepted_json: string
  seen_json: string | null
  change_number: number
  added_ms: number
  seen_ms: number | null
}

export type ServicesTable = {
  name: string
  kind: string
  settings_json: string
  secrets_json: string
  agents_json: string
  connected_ms: number
  generation: number
  status: string
  cursor: string | null
  syncs: number
  full: Flag
  last_sync_ms: number | null
  next_sync_ms: number
  failing_since_ms: number | null
  failures: number
  reason: string | null
  progress_json: string | null
  lease_owner: string | null
  lease_ms: number | null
}

export type WritesTable = {
  id: string
  service: string
  kind: string
  operation: string
  agent: string
  capability: string
  session_id: string | null
  request_id: string
  arguments_json: string
  files_json: string
  buffered_ms: number
  due_ms: number
  status: string
  phase: string | null
  attempts: number
  proofs: number
  repeatable: Flag
  owner: string | null
  lease_ms: number | null
  finished_ms: number | null
  result_json: string | null
  error_json: string | null
  dead: Flag
  ended_by: string | null
}

export type WriteFilesTable = {
  write_id: string
  position: number
  name: string
  content_type: string
  bytes: Uint8Array
}

export type WriteCapturesTable = { write_id: string; capture_json: string }

export type RollbacksTable = {
  id: string
  write_id: string
  service: string
  operation: string
  agent: string
  status: string
  created_ms: number
  expires_ms: number
  owner: string | null
  lease_ms: number | null
  error_json: string | null
  differences_json: string
  rolled_back_ms: number | null
  rolled_back_by: string | null
}

/** The words of an entry are indexed as each engine does it, under `num`. */
export type ReplicaEntriesTable = {
  num: Generated<number>
  service: string
  collection: string
  id: string
  version: string
  sort_ms: number
  until_ms: number
  title: string
  sender: string
  flags: string
  keys_json: string
  body_json: string
  size_bytes: number
  run: number
}

export type ReplicaKeysTable = { service: string; key: string; num: number }

/** How many there are, so that saying so costs the same however many that is. */
export type ReplicaCountsTable = { service: string; entries: number }

export type NodesTable = {
  name: string
  place: string
  version: string
  address: string | null
  state: 'active' | 'draining' | 'stopped'
  started_ms: number
  seen_ms: number
  facts_json: string
}

export type Tables = {
  nodes: NodesTable
  agents: AgentsTable
  sessions: SessionsTable
  shared_events: SharedEventsTable
  approvals: ApprovalsTable
  grants: GrantsTable
  user_tokens: UserTokensTable
  operators: OperatorsTable
  web_sessions: WebSessionsTable
  meta: MetaTable
  service_clock: ClockTable
  state: StateTable
  state_past: StatePastTable
  state_areas: StateAreasTable
  alerts: AlertsTable
  audit_copies: AuditCopiesTable
  audit_progress: AuditProgressTable
  jobs: JobsTable
  processes: ProcessesTable
  schedules: SchedulesTable
  messages: MessagesTable
  deliveries: DeliveriesTable
  subscriptions: SubscriptionsTable
  wakes: WakesTable
  models: ModelsTable
  upstreams: UpstreamsTable
  services: ServicesTable
  writes: WritesTable
  write_files: WriteFilesTable
  write_captures: WriteCapturesTable
  rollbacks: RollbacksTable
  replica_entries: ReplicaEntriesTable
  replica_keys: ReplicaKeysTable
  replica_counts: ReplicaCountsTable
  secrets: SecretsTable
}

/** Where to read and where to write. One and the same in a transaction, and on PostgreSQL. */
export type Db = { readonly read: Kysely<Tables>; readonly write: Kysely<Tables> }
