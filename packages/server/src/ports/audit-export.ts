import type { AuditTarget, AuditTargetTest } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'

/** Consecutive entries of this node's log, and a checkpoint that vouches for them. */
export type ExportPart = {
  readonly chain: string
  readonly from: LogState
  readonly to: LogState
  /** JSON lines: the header, each entry, and the signed note of the checkpoint. */
  readonly header: string
  readonly entries: readonly string[]
  readonly checkpoint: string
}

/** A signed note: a checkpoint of this log, or a root over all of them, by how many entries this one had then. */
export type SignedNote = {
  readonly size: number
  readonly note: string
  readonly of: 'log' | 'all logs'
}

/** The log as those see it who carry it elsewhere. */
export interface ExportSource {
  /** Must return entries behind this state, oldest first, or null where no checkpoint is over more. */
  partFrom(state: LogState): ExportPart | null

  /** Must return checkpoints over more than so many entries, and the newest root made since then, smallest first. */
  notesAfter(size: number): Promise<readonly SignedNote[]>

  /** The state before the first entry that is left. */
  begin(): LogState

  /** How many entries there are. */
  size(): number

  /** Milliseconds; null where there is no such entry. */
  timeOf(seq: number): Promise<number | null>

  /** How far a target has come, as it was kept last; null where that cannot be relied on. */
  readCursor(name: string): LogState | null

  /** Must be on the disk when this returns. */
  writeCursor(name: string, state: LogState): void

  /** Must raise an alarm where a note of this log is over more entries than the log has. */
  compare(notes: string, source: string): void
}

/** Targets that the audit log is carried to. */
export interface AuditExports {
  list(): Promise<readonly AuditTarget[]>

  /** Must try a target at once, without an entry of the log; raises `NotFound`. */
  test(name: string): Promise<AuditTargetTest>
}
