import type { AuditFilter } from '@gatehouse/contract'
import type { LogRow as AuditRow } from '../domain/audit/row.ts'
import type { LimitStamp } from './limits.ts'

export type { LogRow as AuditRow } from '../domain/audit/row.ts'

/** What the index has of an entry: copies of fields, by which it is found. */
export type IndexRow = Omit<AuditRow, 'hash' | 'body'>

/** An entry of a chain as it was hashed. */
export type CopiedEntry = Pick<AuditRow, 'seq' | 'hash' | 'body'>

/** What follows from one group of entries that are in the log. */
export type CommitGroup = {
  readonly rows: readonly AuditRow[]
  readonly stamps: readonly LimitStamp[]
  /** Invocations to add, by agent and by session. */
  readonly agentCounts: ReadonlyMap<string, number>
  readonly sessionCounts: ReadonlyMap<string, number>
  /** The service clock at the time of the group. */
  readonly clockMs: number
}

type Filter = {
  readonly agent?: string
  readonly limit: number
  readonly offset: number
}

type Queries<Row> = {
  find(id: string): Promise<Row | null>

  /**
   * Must return the newest rows first, with the number of all that match. Served by indexes: the cost
   * of a page must not grow with the log. `since` inclusive, `until` exclusive.
   */
  query(filter: AuditFilter): Promise<{ readonly rows: readonly Row[]; readonly total: number }>

  /**
   * The same of what people watch: every row but the intents of calls that policy allowed, whose outcome
   * comes as a row of its own.
   */
  activity(filter: Filter): Promise<{ readonly rows: readonly Row[]; readonly total: number }>

  /** Must return rows of a chain with seq in [from, to), by seq, at most `limit`. */
  range(chain: string, from: number, to: number, limit: number): Promise<readonly Row[]>

  /** Must return where each chain ends: the number of its next row. Its cost must not grow with the log. */
  ends(): Promise<readonly { readonly chain: string; readonly next: number }[]>

  /** Must return calls with result `pending` and no approval that no later row names as its intent. */
  openIntents(chain: string, limit: number): Promise<readonly Row[]>

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

/** Reading entries: where they lie is told by the index, and what they say by the log. */
export type AuditRows = Queries<AuditRow>

/**
 * Where entries of the log are found. Made from the log, and made anew at will: nothing in it is believed, and an
 * entry that is shown comes from the log.
 */
export interface AuditIndex extends Queries<IndexRow> {
  /** Must return the first entry of a chain that the index does not have, and the first that is not counted. */
  progress(chain: string): Promise<{ readonly next: number; readonly counted: number }>

  /** Must return how many rows there are of a chain. */
  size(chain: string): Promise<number>

  /** Must remove all rows of a chain, and the counts made of them. */
  clear(chain: string): Promise<void>

  /** Must return entries of a chain from a number on, as they were copied here, by number; none on engines without copies. */
  copies(chain: string, from: number, limit: number): Promise<readonly CopiedEntry[]>

  /** Must remove the copies of a chain. */
  dropCopies(chain: string): Promise<void>
}
