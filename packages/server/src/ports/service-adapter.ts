import type { z } from 'zod'
import type { Clock } from './clock.ts'
import type { Json, JsonObject } from './json.ts'
import type { Log } from './log.ts'
import type { ReplicaChange } from './replica.ts'

/** A credential of a service: entered by an operator, kept in the vault, never shown again. */
export type SecretField = {
  /** `password`: lower case, digits and `_`. */
  readonly name: string
  readonly description: string
  readonly required: boolean
}

/** A service as an operator connected it, as an adapter sees it. */
export type ServiceConnection = {
  /** The name that the operator gave it. */
  readonly service: string
  /** As `adapter.settings` parsed them. */
  readonly settings: JsonObject
  /** Credentials of the service; the optional ones may be missing. */
  readonly secrets: readonly string[]
  /**
   * Calls `work` with a credential, for the host that it is sent to. The value must not be kept beyond
   * `work`, nor put into a message. Raises `VaultLocked`, `SecretNotFound`.
   */
  secret<T>(name: string, host: string, work: (value: string) => Promise<T>): Promise<T>
  readonly clock: Clock
  readonly log: Log
}

/** One thing that was looked at, in words for the operator who set it up. */
export type ConnectionCheck = {
  /** `IMAP login`, `SMTP connection`, … */
  readonly name: string
  readonly ok: boolean
  /** Finding: `imap.example.org:993 refused the password of ana`. */
  readonly detail: string
  /** Fix; null where all is well. */
  readonly fix: string | null
}

/** A stretch of a sync. Stored in one transaction, so a cursor never runs ahead of its entries. */
export type SyncBatch = {
  readonly changes: readonly ReplicaChange[]
  /**
   * Collections that this run has yielded wholly, the present batch included: whatever else the replica
   * holds of them is dropped. For a collection that had to be read anew in an incremental run.
   */
  readonly complete?: readonly string[]
  /** Collections that are no more: all their entries are dropped. */
  readonly gone?: readonly string[]
  /** Where to go on after a failure, and the next time. Absent: as before. */
  readonly cursor?: string
  /** For people who wait: entries read so far in this run, and how many there will be, where known. */
  readonly progress?: { readonly done: number; readonly total: number | null }
}

/** A write as it is handed to the service. The same for each attempt. */
export type ServiceWrite = {
  /** `wr-…`: unique and never used for another write. What the service knows it by is derived from it. */
  readonly id: string
  readonly operation: string
  readonly agent: string
  readonly arguments: JsonObject
  /** Content that was read when the write was made, such as attachments; in the order given then. */
  readonly files: readonly WriteFile[]
}

export type WriteFile = {
  readonly name: string
  readonly content_type: string
  readonly bytes: Uint8Array
}

/**
 * State before the write, stored before it. Must hold all that `prove` and `undo` need, without asking
 * anything else: where each thing was, its version, its content where that would be lost.
 */
export type Capture = {
  /** Null where there is nothing to undo by. */
  readonly before: Json
  /** Trace to find afterwards, where it can be known now: a Message-ID, a URL. */
  readonly expected: Json
}

/** Why a write did not happen, or is not known to have. */
export type WriteReason = {
  /** A sentence for people and agents, without credentials: `smtp.example.org refused bob@example.net: no such user`. */
  readonly detail: string
  /** Fix; absent: the usual words. */
  readonly fix?: string
}

/** Outcome of an attempt. Anything thrown counts as `unknown`, unless `execute` had told of the result. */
export type WriteOutcome =
  | {
      readonly kind: 'executed'
      /** For the agent, such as `{message_id}`; stored and shown. */
      readonly result: JsonObject
      /** Changes that the replica may show at once; the next sync corrects it. */
      readonly changes?: readonly ReplicaChange[]
    }
  | {
      /** Provably nothing happened: no connection, 429, 503 with Retry-After, refused before any content. */
      readonly kind: 'not_executed'
      readonly reason: WriteReason
      /** `never`: it would be refused again. `after_ms` null: the usual back-off. */
      readonly retry: 'never' | { readonly after_ms: number | null }
    }
  | {
      /** Bytes were sent and no clear answer came. It is never sent again by itself. */
      readonly kind: 'unknown'
      readonly reason: WriteReason
    }

/** Evidence that the service shows of a write whose outcome is unknown. Throw where it cannot be looked up now. */
export type WriteProof =
  | { readonly kind: 'executed'; readonly result: JsonObject }
  /** Must be certain: the write is sent again because of it. */
  | { readonly kind: 'not_executed' }
  /** The service cannot tell, now or later: a person decides. */
  | { readonly kind: 'unknown'; readonly reason: WriteReason }

/** A write that took place, with what stood before it. */
export type UndoPoint = {
  readonly write: Omit<ServiceWrite, 'files'>
  readonly capture: Capture
  /** Null where nobody knows whether it took place. */
  readonly result: JsonObject | null
}

/** Plan of an undo, found by looking, before anything is changed. */
export type UndoPlan =
  | { readonly kind: 'possible'; readonly steps: readonly string[] }
  /** The state is not what the write left: others changed it. Each difference is a sentence. */
  | {
      readonly kind: 'refused'
      readonly reason: WriteReason
      readonly differences: readonly string[]
    }

export type UndoOutcome =
  | {
      readonly kind: 'undone'
      readonly result: JsonObject
      readonly changes?: readonly ReplicaChange[]
    }
  | Extract<UndoPlan, { readonly kind: 'refused' }>
  /** The service could not be reached, or stopped in the middle: it is tried again. */
  | { readonly kind: 'not_undone'; readonly reason: WriteReason }

/**
 * One way of changing a service, declared with its undo. `C` is what the adapter opens. Everything
 * gets a signal that aborts when the time is up or the service stops; what it leaves unclear is unclear.
 */
export interface ServiceOperation<C = unknown> {
  /** `send`: the action of the capability that buffers it. */
  readonly name: string
  /** How long it is held before it runs; configuration may say otherwise. */
  readonly delay_seconds: number
  /** For one attempt, and for undoing it. */
  readonly timeout_seconds: number
  readonly undoable: boolean
  /** A sentence on what can be undone: `A sent message cannot be called back; until then cancel it.` */
  readonly undo_note: string
  /** Arguments that people are not shown. */
  readonly redact: readonly string[]

  /** Must change nothing. What it returns is durable before `execute` is called. May throw: it is tried again. */
  capture(service: C, write: ServiceWrite, signal: AbortSignal): Promise<Capture | CaptureRefusal>

  /**
   * Is called at most once for each time that a write is provably not executed. Must call `executed` with the result
   * as soon as the service has taken the write, where more comes after that and `prove` may not find it, as with a mail
   * before its copy is kept: that result stands if the rest throws or is cut off.
   */
  execute(
    service: C,
    write: ServiceWrite,
    capture: Capture,
    signal: AbortSignal,
    executed: (result: JsonObject) => void,
  ): Promise<WriteOutcome>

  /** Must change nothing. Asked after an unknown outcome and after a crash. */
  prove(service: C, write: ServiceWrite, capture: Capture, signal: AbortSignal): Promise<WriteProof>

  /** Must change nothing: says what `undo` would do now. */
  planUndo(service: C, point: UndoPoint, signal: AbortSignal): Promise<UndoPlan>

  /**
   * Must bring back exactly what `capture` saw, or refuse before changing anything. Must be safe to
   * repeat: one that was cut off is called again until it is `undone` or `refused`, and what an earlier
   * call brought back already is no difference.
   */
  undo(service: C, point: UndoPoint, signal: AbortSignal): Promise<UndoOutcome>
}

/** Before anything was done: the write makes no sense any more, such as moving what is gone. */
export type CaptureRefusal = { readonly kind: 'refused'; readonly reason: WriteReason }

/** A part of an entry that the replica does not hold, such as an attachment. */
export type FetchedPart = {
  readonly name: string
  readonly content_type: string
  /** Null where the service does not say. */
  readonly size_bytes: number | null
  /** Ends with an error after `bytesMax` bytes. */
  readonly content: AsyncIterable<Uint8Array>
}

/**
 * How one kind of service is spoken to: frozen data and functions; declaring it touches nothing. `C` is
 * what it opens: connections, caches. Everything of `C` may be used by several callers at once.
 */
export interface ServiceAdapter<C extends AsyncDisposable = AsyncDisposable> {
  /** `mail`, `calendar`: the group of services it is for. */
  readonly kind: string
  /** For people: `E-mail (IMAP and SMTP)`. */
  readonly title: string
  /** Settings that an operator enters, closed, with a description for each. No credentials. */
  readonly settings: z.ZodObject
  readonly secrets: readonly SecretField[]
  /** How often it is synced unless configuration says otherwise. */
  readonly sync_every_seconds: number
  readonly operations: readonly ServiceOperation<C>[]

  /**
   * Looks at each thing that must work, one by one, and says what is wrong in words that name it. Must
   * change nothing at the service. What is not reached because of an earlier failure is left out.
   */
  test(connection: ServiceConnection, signal: AbortSignal): Promise<readonly ConnectionCheck[]>

  /**
   * Must not wait for the service where that can be left to the first use. It is disposed when the
   * service is disconnected or idle, and after a call on it has thrown; then the next caller opens anew.
   */
  open(connection: ServiceConnection): Promise<C>

  /**
   * Yields what changed since the cursor, or everything for null: then whatever the run does not yield is
   * dropped at its end. Must yield batches of at most 500 changes, so that reads and stops come between.
   * Must raise `ServiceUnavailable` with what went wrong; what is garbled at one entry must not end the
   * run for the others: it is left out and logged.
   */
  sync(
    service: C,
    since: { readonly cursor: string | null },
    signal: AbortSignal,
  ): AsyncIterable<SyncBatch>

  /**
   * Calls `hear` when something may have changed, until the signal aborts. May end or raise when it can hear no
   * more: it is begun anew after the next sync. Must change nothing. Absent: the service can only be asked.
   */
  listen?(service: C, hear: () => void, signal: AbortSignal): Promise<void>

  /** Raises `PartNotFound`, `ServiceUnavailable`, `ResponseTooLarge`. Absent: there are no parts. */
  fetchPart?(
    service: C,
    part: {
      readonly collection: string
      readonly id: string
      readonly part: string
      readonly bytesMax: number
    },
    signal: AbortSignal,
  ): Promise<FetchedPart>
}

/** The kinds of services there are. */
export type ServiceAdapters = ReadonlyMap<string, ServiceAdapter>
