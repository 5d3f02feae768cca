import type {
  BufferedWrite,
  RollbackPreview,
  ServiceStatus,
  WriteStatus,
} from '@gatehouse/contract'
import type { JsonObject } from './json.ts'
import type { CollectionCount, FoundEntry, ReplicaKey, ReplicaQuery } from './replica.ts'
import type { FetchedPart, WriteFile } from './service-adapter.ts'

/** How fresh what is read is. */
export type Freshness = {
  readonly service: string
  readonly status: ServiceStatus
  /** ISO 8601; null before the first sync has ended. */
  readonly last_sync: string | null
}

export type NewWrite = {
  /** An operation of the adapter. */
  readonly operation: string
  /** Checked and complete: what is stored is what is sent. */
  readonly arguments: JsonObject
  readonly files?: readonly WriteFile[]
}

/** Receipt for an agent's buffered write. */
export type WriteTicket = {
  readonly write_id: string
  readonly service: string
  readonly operation: string
  readonly status: WriteStatus
  /** Until then it can be cancelled. */
  readonly execute_at: string
  /** Until when it can be undone after it ran; null where it cannot. */
  readonly undo_until: string | null
  /** Undo, described in a sentence. */
  readonly undo_note: string
}

/** One service as an agent reads and changes it. Reads come from the replica; only `part` asks the service. */
export interface AgentService {
  readonly name: string
  readonly kind: string
  /** As the operator entered them: the agent's own address, its time zone. */
  readonly settings: JsonObject
  readonly freshness: Freshness
  query(
    query: ReplicaQuery,
  ): Promise<{ readonly entries: readonly FoundEntry[]; readonly total: number }>
  find(key: ReplicaKey): Promise<FoundEntry | null>
  findByKey(key: string): Promise<readonly FoundEntry[]>
  collections(flag: string): Promise<readonly CollectionCount[]>
  /** Raises `PartNotFound`, `ServiceUnavailable`, `ResponseTooLarge`. */
  part(
    part: { readonly collection: string; readonly id: string; readonly part: string },
    bytesMax: number,
  ): Promise<FetchedPart>
  /** Holds a write until its time comes; durable when it resolves. Raises `QuotaExceeded`. */
  buffer(write: NewWrite): Promise<WriteTicket>
}

/** The services that an operator let this agent use. */
export interface AgentServices {
  /** Services of a kind, by name. */
  list(kind: string): Promise<readonly Freshness[]>
  /** The one of this name, or the only one there is. Raises `ServiceNotFound`, `ServiceAmbiguous`. */
  open(kind: string, name?: string): Promise<AgentService>
}

/** An agent's own writes; those of others do not exist for it. */
export interface AgentWrites {
  list(filter: {
    readonly status?: WriteStatus | undefined
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly writes: readonly BufferedWrite[]; readonly total: number }>
  /** Raises `WriteNotFound`. */
  find(writeId: string): Promise<BufferedWrite>
  /** Preview of `rollback`; changes nothing, here or at the service. Raises what `rollback` raises, soon. */
  planRollback(writeId: string, signal: AbortSignal): Promise<RollbackPreview>
  /** Raises `WriteNotFound`, `WriteNotBuffered`. */
  cancel(writeId: string): Promise<BufferedWrite>
  /** Raises `WriteNotFound`, `NotUndoable`, `RollbackRefused`, `ServiceUnavailable`. */
  rollback(writeId: string, signal: AbortSignal): Promise<BufferedWrite>
}
