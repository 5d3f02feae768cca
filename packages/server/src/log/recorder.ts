import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { CommitGroup } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import { type RecordParts, recordRest, recordRestAtStart } from './record-groups.ts'

/** Place that a call waits for where nodes share the store. */
export type Durable = 'database' | 'local'

/** Tells the store what follows from groups of the log. */
export interface Recorder {
  /** Must have told of the group when it resolves, or when it returns null; a `LaterRecorder` a moment later. */
  record(group: CommitGroup): Promise<void> | null

  /** Must have told of every entry before `end`. Raises what the store raises. */
  catchUp(end: number): Promise<void>

  /** The same when a service starts, for a store that counted uses of limits in memory. */
  start(end: number): Promise<void>

  /** The first entry that the store may not have been told of. */
  told(): number

  /** Why the store lacks a part of the log; null where it does not. */
  failure(): string | null
}

/** Callers wait for the store. */
class AtOnceRecorder implements Recorder {
  readonly #parts: RecordParts
  /** Where the group begins that the store is being told of, or was told of in vain. */
  #underWay: number | null = null

  constructor(parts: RecordParts) {
    this.#parts = parts
  }

  record(group: CommitGroup): Promise<void> | null {
    const recording = this.#parts.storage.record(group)
    return recording && this.#told(recording, group.rows[0]?.seq ?? null)
  }

  async catchUp(end: number): Promise<void> {
    await recordRest(this.#parts, end)
    this.#underWay = null
  }

  async start(end: number): Promise<void> {
    await recordRestAtStart(this.#parts, end)
    this.#underWay = null
  }

  told(): number {
    return this.#underWay ?? Number.POSITIVE_INFINITY
  }

  failure(): null {
    return null
  }

  async #told(recording: Promise<void>, first: number | null): Promise<void> {
    this.#underWay ??= first
    await recording
    this.#underWay = null
  }
}

const againAfterMs = 1_000

/**
 * Callers wait for the log alone, and the store is told from its files: however far behind it is, nothing is kept in
 * memory.
 */
class LaterRecorder implements Recorder {
  readonly #parts: RecordParts
  readonly #clock: Clock
  readonly #stop: AbortSignal
  #end = 0
  #told = 0
  #running: Promise<void> | null = null
  #failure: string | null = null

  constructor(parts: RecordParts, clock: Clock, stop: AbortSignal) {
    this.#parts = parts
    this.#clock = clock
    this.#stop = stop
  }

  record({ rows }: CommitGroup): null {
    const end = (rows.at(-1)?.seq ?? -1) + 1
    if (this.#failure === null) void this.catchUp(end).catch(() => undefined)
    else this.#end = Math.max(this.#end, end)
    return null
  }

  /** Groups that come while others are told of are told of together. */
  catchUp(end: number): Promise<void> {
    this.#end = Math.max(this.#end, end)
    if (this.#told >= this.#end) return Promise.resolve()
    return (this.#running ??= this.#run())
  }

  /** Nodes that share a store count in it. */
  start(end: number): Promise<void> {
    return this.catchUp(end)
  }

  told(): number {
    return this.#told
  }

  failure(): string | null {
    return this.#failure
  }

  async #run(): Promise<void> {
    try {
      while (this.#told < this.#end) {
        const end = this.#end
        await recordRest(this.#parts, end)
        this.#told = end
      }
      this.#failure = null
    } catch (cause) {
      const said = cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause)
      this.#failure = `entries are not copied to the database: ${said}`
      void this.#again()
      throw cause
    } finally {
      this.#running = null
    }
  }

  async #again(): Promise<void> {
    await this.#clock.sleep(againAfterMs, this.#stop)
    if (!this.#stop.aborted) await this.catchUp(this.#end).catch(() => undefined)
  }
}

/** A store of this node alone takes groups at once. */
export const createRecorder = (
  parts: RecordParts,
  durable: Durable | undefined,
  clock: Clock,
  stop: AbortSignal,
): Recorder =>
  durable === 'local' && parts.storage.isShared
    ? new LaterRecorder(parts, clock, stop)
    : new AtOnceRecorder(parts)
