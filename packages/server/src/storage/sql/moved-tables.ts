import type { Tables } from './tables.ts'

export type Row = Readonly<Record<string, unknown>>

/** How rows of a table come into another store. */
export type TablePlan = {
  /** The primary key: rows are read, written and hashed in its order. */
  readonly key: readonly string[]
  /** Rows of a page, where they may be large. */
  readonly page?: number
  /** Rows that belong to the store itself and stay; by a column and its values. */
  readonly without?: { readonly column: string; readonly values: readonly string[] }
  /** Rows of this node's processes alone are wanted; by the column that names it. */
  readonly ofNode?: string
  /** The row as the other store has it. */
  readonly change?: (row: Row) => Row
}

/** Source of rows that are not copied: the log's files, the services whose replicas they are, or none where nobody asks later. */
type Remade = 'from the log' | 'from the services' | 'for a moment'

const ofName: TablePlan = { key: ['name'] }
const ofId: TablePlan = { key: ['id'] }
const remade: Remade = 'from the services'

/** Copies of services are fetched anew: their index of words cannot be read back. */
const fetchedAnew = (row: Row): Row => ({
  ...row,
  ...{ cursor: null, full: 1, next_sync_ms: 0, progress_json: null },
  ...{ lease_owner: null, lease_ms: null },
  status: row['status'] === 'disconnected' ? row['status'] : 'syncing',
})

/** Each table has a line, so that a new one cannot be forgotten. */
export const movedTables: Readonly<Record<keyof Tables, TablePlan | Remade>> = {
  meta: { key: ['key'], without: { column: 'key', values: ['store_id', 'move', 'policy'] } },
  nodes: { ...ofName, ofNode: 'name' },
  agents: ofName,
  sessions: ofId,
  shared_events: 'for a moment',
  approvals: ofId,
  grants: ofId,
  user_tokens: ofId,
  operators: ofName,
  web_sessions: { key: ['id_hash'] },
  service_clock: ofId,
  state: { key: ['area', 'key'] },
  state_past: { key: ['area', 'key', 'version'] },
  state_areas: { key: ['area'] },
  alerts: ofId,
  audit_copies: 'from the log',
  audit_progress: { key: ['chain'], ofNode: 'chain' },
  jobs: ofId,
  processes: ofId,
  schedules: ofId,
  messages: ofId,
  deliveries: { key: ['agent', 'rank', 'sent_ms', 'message_id'] },
  subscriptions: ofId,
  wakes: ofId,
  models: { key: ['node', 'id'], ofNode: 'node' },
  upstreams: ofName,
  services: {
    ...ofName,
    change: fetchedAnew,
  },
  writes: ofId,
  write_files: { key: ['write_id', 'position'], page: 2 },
  write_captures: { key: ['write_id'], page: 16 },
  rollbacks: ofId,
  replica_entries: remade,
  replica_keys: remade,
  replica_counts: remade,
  secrets: ofId,
}
