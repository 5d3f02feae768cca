import type { RollbackStatus, WriteStatus } from '@gatehouse/contract'
import type { Period } from './period.ts'

/**
 * How far an `executing` write is. `capturing`: nothing was sent, so a run that died is simply put back;
 * `sending`: it may have been; `proving`: it may have been, and the service is asked whether it was.
 */
export type WritePhase = 'capturing' | 'sending' | 'proving'

/** Times are ms since 1970 of the wall clock, but for `due_ms` and the lease: they are of the service clock. */
export type StoredWrite = {
  readonly id: string
  readonly service: string
  readonly kind: string
  readonly operation: string
  readonly agent: string
  /** The capability that buffered it. */
  readonly capability: string
  readonly session_id: string | null
  readonly request_id: string
  readonly arguments_json: string
  /** Names, types and sizes of its files. */
  readonly files_json: string
  readonly buffered_ms: number
  /** When it runs, or runs next; on the service clock, which no jump of the wall clock shortens. */
  readonly due_ms: number
  readonly status: WriteStatus
  readonly phase: WritePhase | null
  readonly attempts: number
  /** How often the service was asked in vain whether it took place. */
  readonly proofs: number
  /** Whether it may be sent again by itself once it is proven that it was not executed. */
  readonly repeatable: boolean
  readonly owner: string | null
  /** On the service clock: until when the owner holds it. */
  readonly lease_ms: number | null
  readonly finished_ms: number | null
  readonly result_json: string | null
  readonly error_json: string | null
  /** Failed, and nobody has decided yet. */
  readonly dead: boolean
  readonly ended_by: string | null
}

export type StoredWriteFile = {
  readonly name: string
  readonly content_type: string
  readonly bytes: Uint8Array
}

export type WriteClaim = {
  readonly services: readonly string[]
  readonly owner: string
  /** Writes due at this moment of the service clock or before. */
  readonly dueMs: number
  readonly leaseMs: number
  readonly limit: number
}

/** The period is that in which writes were asked for. */
export type WriteFilter = Period & {
  readonly statuses?: readonly WriteStatus[]
  readonly agent?: string
  readonly service?: string
  readonly dead?: boolean
  readonly limit: number
  readonly offset: number
}

/** Figures of a service at a glance, for operators. */
export type WriteCounts = { readonly buffered: number; readonly dead: number }

export interface WriteStore {
  /** Must be durable, with its files, when the promise resolves (of its transaction, inside one). Must raise `Conflict` for an id in use. */
  insert(write: StoredWrite, files: readonly StoredWriteFile[]): Promise<void>

  /** Must return null for an unknown id. */
  find(id: string): Promise<StoredWrite | null>

  files(id: string): Promise<readonly StoredWriteFile[]>

  /**
   * Must turn buffered writes of these services that are due into executing ones of this owner, in phase
   * `capturing`, the longest due first, with one more attempt, durably and in one step: of any number of
   * nodes that claim at once, and of people who cancel meanwhile, one gets a write.
   */
  claim(claim: WriteClaim): Promise<readonly StoredWrite[]>

  /**
   * Must store `next` only if status, phase, owner and attempts of the row are still those of `current`,
   * in one step that no other connection or node can split, and say whether it did. Must leave what the
   * write is about as it is: everything down to `buffered_ms`.
   */
  replace(current: StoredWrite, next: StoredWrite): Promise<boolean>

  /** Must return executing ones that `owner` holds, or whose lease ended at or before `nowMs`, oldest first. */
  listLost(lost: {
    readonly owner?: string
    readonly nowMs: number
    readonly limit: number
  }): Promise<readonly StoredWrite[]>

  /** Must return when the next buffered write of these services is due, or null. */
  nextDue(services: readonly string[]): Promise<number | null>

  /** Must list pending ones (buffered, executing) by their due time, and mixed ones by when they were made, newest first. */
  list(
    filter: WriteFilter,
  ): Promise<{ readonly writes: readonly StoredWrite[]; readonly total: number }>

  /** By service; services without any may be missing. */
  counts(): Promise<ReadonlyMap<string, WriteCounts>>

  /** Must return those of a service or an agent of which nothing was sent yet, buffered or `capturing`; at most 1,000. */
  listUnsent(
    of: { readonly service: string } | { readonly agent: string },
  ): Promise<readonly StoredWrite[]>

  /** Must delete what ended before the moment and is not dead, with files and captures; and the files of all that ended well or were cancelled. */
  prune(endedBeforeMs: number): Promise<void>
}

/** State before a write, and what became of going back to it. */
export type StoredRollback = {
  readonly id: string
  readonly write_id: string
  readonly service: string
  readonly operation: string
  readonly agent: string
  /** `pending` until the write took place, or may have. */
  readonly status: RollbackStatus | 'pending'
  readonly created_ms: number
  /** On the service clock. */
  readonly expires_ms: number
  readonly owner: string | null
  readonly lease_ms: number | null
  readonly error_json: string | null
  readonly differences: readonly string[]
  readonly rolled_back_ms: number | null
  readonly rolled_back_by: string | null
}

export interface RollbackStore {
  /** Must keep what stood before a write, in place of what an earlier attempt saw. */
  putCapture(writeId: string, captureJson: string): Promise<void>
  capture(writeId: string): Promise<string | null>

  /** Must store it in place of another one of the same write. */
  put(point: StoredRollback): Promise<void>
  find(id: string): Promise<StoredRollback | null>
  ofWrite(writeId: string): Promise<StoredRollback | null>
  /** The points of these writes, in any order. */
  ofWrites(writeIds: readonly string[]): Promise<readonly StoredRollback[]>

  /** Must store `next` only if status and owner of the row are still those of `current`, in one step; says whether it did. */
  replace(current: StoredRollback, next: StoredRollback): Promise<boolean>
  removeOfWrite(writeId: string): Promise<void>

  /** Must return those being rolled back that `owner` holds, or whose lease ended at or before `nowMs`. */
  listLost(lost: {
    readonly owner?: string
    readonly nowMs: number
  }): Promise<readonly StoredRollback[]>

  /** Must list without the pending ones, newest first. */
  list(
    filter: Period & {
      readonly service?: string
      readonly statuses?: readonly RollbackStatus[]
      readonly limit: number
      readonly offset: number
    },
  ): Promise<{ readonly points: readonly StoredRollback[]; readonly total: number }>

  /** How many are ready, by service. */
  counts(): Promise<ReadonlyMap<string, number>>

  /** Must turn ready and refused ones whose time ended at or before the moment of the service clock into expired ones, and drop their captures. */
  expire(nowMs: number): Promise<void>
  /** Must drop the points of a service, and what stood before any of its writes, also of one that is being sent. */
  removeOfService(service: string): Promise<void>
}
