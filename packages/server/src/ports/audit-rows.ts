import type { AuditFilter } from '@gatehouse/contract'
import type { LogRow as AuditRow } from '../domain/audit/row.ts'
import type { LimitStamp } from './limits.ts'

export type { LogRow as AuditRow } from '../domain/audit/row.ts'

/** An entry of a chain as it was hashed. */
export type CopiedEntry = Pick<AuditRow, 'seq' | 'hash' | 'body'>

/** Consequences of one group of entries that are in the log. */
export type CommitGroup = {
  readonly chain: string
  readonly rows: readonly CopiedEntry[]
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

/** A span of time, `toMs` exclusive, and the length of its parts, of which the last may be shorter. */
export type FigureRange = {
  /** Null for all agents. */
  readonly agent: string | null
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
}

/** Calls that agree in these. */
export type CallSum = {
  readonly agent: string
  /** Empty for names that an agent made up, where there are too many of them. */
  readonly capability: string
  /** The service that they used or are about. */
  readonly service: string | null
  /** Whether policy was asked about any of them, which it is of capabilities that exist. */
  readonly judged: boolean
  readonly calls: number
  readonly failed: number
  readonly denied: number
  readonly held: number
}

/**
 * Numbers of calls, a value for each part of the span, and their sums. A call counts once, when its end was recorded or,
 * where it waits for a person (`held`), when it was made; how that one's run ended counts when it did. `denied`: refused
 * by policy, for the agent or because of a change since the approval. `limited`: refused by a limit.
 */
export type CallFigures = {
  readonly calls: readonly number[]
  readonly denied: readonly number[]
  readonly failed: readonly number[]
  readonly held: readonly number[]
  readonly limited: readonly number[]
  /** Of calls that ran, as they ended; less than 1 % off. Null where there was none. */
  readonly duration_p50_ms: readonly (number | null)[]
  readonly duration_p95_ms: readonly (number | null)[]
  /** From request to decision of those that a person decided; by the time of the decision. */
  readonly approval_wait_p50_ms: readonly (number | null)[]
  readonly sums: readonly CallSum[]
}

/** Reading entries: where they lie is told by the index, and what they say by the log. */
export interface AuditRows {
  find(id: string): Promise<AuditRow | null>

  /**
   * Must return the newest rows first, with the number of all that match. The cost of a page must not grow with the
   * log. `since` inclusive, `until` exclusive. Must tell where the log ended; a query that names this as `as_of` must
   * find nothing that was added later.
   */
  query(filter: AuditFilter): Promise<{
    readonly rows: readonly AuditRow[]
    readonly total: number
    readonly as_of: string
  }>

  /**
   * The same of what people watch: every row but the intents of calls that policy allowed, whose outcome
   * comes as a row of its own.
   */
  activity(filter: Filter): Promise<{ readonly rows: readonly AuditRow[]; readonly total: number }>

  /** Must return rows of a chain with seq in [from, to), by seq, at most `limit`. */
  range(chain: string, from: number, to: number, limit: number): Promise<readonly AuditRow[]>

  /** Must return where each chain ends: the number of its next row. Its cost must not grow with the log. */
  ends(): Promise<readonly { readonly chain: string; readonly next: number }[]>

  /**
   * Must return calls of this node with result `pending` and no approval that no later row names as its intent, oldest
   * first.
   */
  openIntents(limit: number): Promise<readonly AuditRow[]>

  /** Must count, since a moment, calls that ran (success or error) and calls denied; `entries` are all there are. */
  counts(
    sinceMs: number,
  ): Promise<{ readonly calls: number; readonly denied: number; readonly entries: number }>

  /**
   * Must add up calls without reading entries, and leave the event loop to others meanwhile. Raises `Cancelled` when the
   * signal says so.
   */
  figures(range: FigureRange, signal: AbortSignal): Promise<CallFigures>

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

/** Statement of a chain's process that retention took entries away: the rest goes on from there. */
export type ChainRemoval = {
  readonly chain: string
  /** The exact text that was signed, a `Removal`. */
  readonly record: string
  /** In base64. */
  readonly signature: string
  /** PEM. */
  readonly public_key: string
}

/** Key by which the process of a chain signs. */
export type ChainKey = {
  readonly chain: string
  /** PEM. */
  readonly public_key: string
}

/** Place of an entry. */
export type ChainPlace = { readonly chain: string; readonly seq: number }

/** Entries of the chains of other processes. */
export interface ReadableChains {
  /**
   * Must return entries of a chain from a number on, by number; those of numbers beyond `seqMax`, or that no number tells
   * exactly, with the nearest one that does: somebody else wrote them.
   */
  read(chain: string, from: number, limit: number): Promise<readonly CopiedEntry[]>

  /**
   * Must return where each chain ends: the number of its next entry; everything that was answered before is in it. Its
   * cost must not grow with the log.
   */
  ends(): Promise<readonly { readonly chain: string; readonly next: number }[]>

  /** Must return, of chains of which retention took entries away, what was signed of that last. */
  removals(): Promise<readonly ChainRemoval[]>

  /** Must return the keys of chains whose processes told theirs. */
  keys(): Promise<readonly ChainKey[]>

  /** Must return the newest checkpoint that the process of a chain signed and told; null where it told none. */
  checkpoint(chain: string): Promise<string | null>

  /** Must return, of chains whose processes told it, the entry about the last root over all logs. */
  roots(): Promise<readonly ChainPlace[]>
}

/** The same where no process of its own watches them. */
export interface OtherChains extends ReadableChains {
  /** Must be false only when nobody changed or removed an entry since the last call. Cheap: it runs at each audit query. */
  takeForeign(): Promise<boolean>
}

/** Entries of all nodes, as each copied its own: for those who cannot read its files, and for safe-keeping. */
export interface AuditCopies extends OtherChains {
  /** Must remove the copies of a chain with what was signed of removed ones, and keep what was counted of it. */
  drop(chain: string): Promise<void>

  /**
   * Must keep what was signed before it removes the copies of entries before `size`: who reads meanwhile, or after a crash in
   * between, begins behind them.
   */
  removeBefore(size: number, removal: ChainRemoval): Promise<void>

  /** Must tell others the key of a chain, in the place of what was told before. */
  keepKey(key: ChainKey): Promise<void>

  /** Must tell others the newest checkpoint of a chain. */
  keepCheckpoint(chain: string, note: string): Promise<void>

  /** Must tell others the entry about the last root that the process of its chain made. */
  keepRoot(place: ChainPlace): Promise<void>
}
