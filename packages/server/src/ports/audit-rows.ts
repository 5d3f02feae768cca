import type { AuditFilter } from '@gatehouse/contract'
import type { LogRow as AuditRow } from '../domain/audit/row.ts'
import type { LimitStamp } from './limits.ts'

export type { LogRow as AuditRow } from '../domain/audit/row.ts'

/** What one group commit stores. */
export type CommitGroup = {
  readonly rows: readonly AuditRow[]
  readonly stamps: readonly LimitStamp[]
  /** Invocations to add, by agent and by session. */
  readonly agentCounts: ReadonlyMap<string, number>
  readonly sessionCounts: ReadonlyMap<string, number>
  /** The service clock, persisted with each commit. */
  readonly clockMs: number
  /** The sealed state of the log with these rows: an entry of `meta` that must be stored together with them. */
  readonly sealed?: { readonly key: string; readonly value: string }
}

export interface AuditRows {
  /** Must append in order; must raise on a (chain, seq) or id in use. */
  insert(rows: readonly AuditRow[]): Promise<void>

  /** Must return the last row of a chain, or null. */
  head(chain: string): Promise<AuditRow | null>

  /** Must return rows of a chain with seq in [from, to), by seq, at most `limit`. */
  range(chain: string, from: number, to: number, limit: number): Promise<readonly AuditRow[]>

  /** Must return the chains there are, by name, with their row counts. */
  chains(): Promise<readonly { readonly chain: string; readonly rows: number }[]>

  /** Must return where each chain ends: the number of its next row. Its cost must not grow with the log. */
  ends(): Promise<readonly { readonly chain: string; readonly next: number }[]>

  find(id: string): Promise<AuditRow | null>

  /**
   * Must return the newest rows first, with the number of all that match. Served by indexes: the cost
   * of a page must not grow with the log. `since` inclusive, `until` exclusive.
   */
  query(
    filter: AuditFilter,
  ): Promise<{ readonly rows: readonly AuditRow[]; readonly total: number }>

  /**
   * The same of what people watch: every row but the intents of calls that policy allowed, whose outcome
   * comes as a row of its own.
   */
  activity(filter: {
    readonly agent?: string
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly rows: readonly AuditRow[]; readonly total: number }>

  /** Must return calls with result `pending` and no approval that no later row names as its intent. */
  openIntents(chain: string, limit: number): Promise<readonly AuditRow[]>

  /** Must count, since a moment, calls that ran (success or error) and calls denied; `entries` are all there are. */
  counts(
    sinceTimestamp: string,
  ): Promise<{ readonly calls: number; readonly denied: number; readonly entries: number }>

  /**
   * Calls of an agent that ran, and failures among them: by capability (with p50 and p95 of the newest
   * 1,000 each), and by day, the newest 90, oldest first.
   */
  statsOf(agent: string): Promise<{
    readonly by_capability: readonly {
      readonly capability: string
      readonly calls: number
      readonly failures: number
      readonly p50_ms: number
      readonly p95_ms: number
    }[]
    readonly by_day: readonly {
      readonly day: string
      readonly calls: number
      readonly failures: number
    }[]
  }>
}
