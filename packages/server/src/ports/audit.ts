import type {
  AuditEntry,
  AuditFilter,
  AuditPage,
  AuditProof,
  Integrity,
  UnlistedEntries,
} from '@gatehouse/contract'
import type { EntryDraft } from '../domain/audit/entry.ts'
import type { AuditRow, AuditRows } from './audit-rows.ts'
import type { LimitStamp } from './limits.ts'
import type { Stores } from './storage.ts'

/** Entry as a caller drafts it; the log adds id, time, place and hash. */
export type AuditDraft = EntryDraft

export type AppendExtras = {
  /** Rate-limit stamps to store in the same transaction. */
  readonly stamps?: readonly LimitStamp[]
  /** Whether this entry counts as one invocation of its agent and session. */
  readonly counts?: boolean
  /** A short text about the state of the vault, which what is sealed over the log says from then on. */
  readonly vault?: string
}

/** The stores inside one transaction, and the log: entries written here commit with the rest. */
export type AuditTransaction = Stores & {
  /** Queues an entry for the end of the transaction and returns its id; it exists only if all commits. */
  append(draft: AuditDraft, extras?: AppendExtras): string
}

/** Rows that one commit added to the log. `tookMs` is null where a transaction's own work is in it too. */
export type Commit = { readonly rows: readonly AuditRow[]; readonly tookMs: number | null }

/**
 * The only way to write. An entry exists on disk, in the chain and under the signed head before a
 * promise of this port resolves; when that is impossible it rejects with `AuditUnavailable`.
 */
export interface AuditLog {
  /** Must group what one turn of the event loop appends into one commit, in order. */
  append(draft: AuditDraft, extras?: AppendExtras): Promise<AuditEntry>

  /** Must commit the work's changes and entries together or not at all, in order with `append`. */
  transaction<T>(work: (tx: AuditTransaction) => Promise<T>): Promise<T>

  /** Must tell of each commit of this process when it stands; what the listener costs, every call waits for. */
  onCommit(listener: (commit: Commit) => void): Disposable

  /** Must rehearse serialising an entry, so that a call whose record would fail does not run. */
  assertRecordable(draft: AuditDraft): void
}

/** State of the vault as the log knows it, outside of the database. */
export interface VaultAnchor {
  /**
   * Last entry's statement about the vault, as it is sealed; null before the first one. `isSealed`: whether there was a
   * sealed state of the log at all when it was opened.
   */
  vaultState(): { readonly state: string | null; readonly isSealed: boolean }
}

/** Reading the log. Every answer says whether what it shows was verified. */
export interface AuditReader {
  /** Entries, from the log, as queries ask for them. */
  readonly rows: AuditRows

  query(filter: AuditFilter): Promise<Omit<AuditPage, 'not_listed'>>

  find(id: string): Promise<AuditEntry | null>

  /** Must tell, as of the last answer, which entries no list, figure or search has, though they are there. */
  notListed(): readonly UnlistedEntries[]

  /** Figures of calls, of the same entries as `query`. */
  figures: AuditRows['figures']

  /** Must re-hash the whole log and compare it with the signed head and the checkpoints. */
  verify(): Promise<Integrity>

  /**
   * Must show that an entry of any log is in the tree of the newest checkpoint of that one, and lead from its head to the newest
   * root over all logs where there is one; null for an unknown id. Raises `Conflict` where that checkpoint is not over it yet.
   */
  prove(id: string): Promise<AuditProof | null>

  /** Must yield the log as JSON lines: a header with the public key, the entries, the checkpoints. */
  export(): AsyncIterable<string>

  /** Calls and denials since a moment; counts from the index. */
  counts(
    sinceMs: number,
  ): Promise<{ readonly calls: number; readonly denied: number; readonly entries: number }>
}
