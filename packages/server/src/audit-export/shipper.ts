import { type AuditTarget, type AuditTargetTest, GatehouseError } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { ExportSource } from '../ports/audit-export.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Target } from './target.ts'

type Parts = {
  readonly name: string
  readonly kind: AuditTarget['kind']
  /** Where it is, for people. */
  readonly place: string
  readonly target: Target
  readonly source: ExportSource
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

const lookEveryMs = 5_000
/** A witness is sent what came since the last time, however much that is. */
const witnessEveryMs = 60_000
const firstBackoffMs = 5_000
const backoffMaxMs = 300_000

const describe = (cause: unknown): string =>
  cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause)

/** Carries the log to one target, part by part, from where it was when the service last knew. */
export class Shipper {
  readonly #parts: Parts
  #cursor: LogState
  #deliveredAt: number | null = null
  #failure: string | null = null
  #failures = 0
  #busy: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
    const { source, name } = parts
    const kept = source.readCursor(name)
    const begin = source.begin()
    // Of a target of that name which was of another kind, nothing is gone on from.
    const isUsable =
      kept !== null &&
      kept.size >= begin.size &&
      (parts.target.takes === 'checkpoints' || frontierFits(kept.size, kept.peaks))
    this.#cursor = isUsable ? kept : begin
  }

  get name(): string {
    return this.#parts.name
  }

  get takesEntries(): boolean {
    return this.#parts.target.takes === 'entries'
  }

  /** The first entry that the target lacks. */
  get next(): number {
    return this.#cursor.size
  }

  get failure(): string | null {
    return this.#failure === null ? null : `audit target ${this.name}: ${this.#failure}`
  }

  /** Goes on until the service ends. */
  async run(): Promise<void> {
    const { clock, signal, target } = this.#parts
    const everyMs = target.takes === 'entries' ? lookEveryMs : witnessEveryMs
    while (!signal.aborted) {
      const isDone = await this.#once(() => this.#deliver())
      const waitMs = isDone
        ? everyMs
        : Math.min(backoffMaxMs, firstBackoffMs * 2 ** Math.min(10, this.#failures - 1))
      await clock.sleep(waitMs, signal)
    }
  }

  async status(): Promise<AuditTarget> {
    const { source, clock, name, kind, place } = this.#parts
    const lag = Math.max(0, source.size() - this.next)
    const since = lag === 0 ? null : await source.timeOf(this.next)
    return {
      ...{ name, kind, place },
      takes: this.#parts.target.takes,
      next: this.next,
      lag_entries: lag,
      lag_seconds: since === null ? 0 : Math.max(0, Math.round((clock.wall() - since) / 1000)),
      delivered_at: this.#deliveredAt === null ? null : new Date(this.#deliveredAt).toISOString(),
      failure: this.#failure,
    }
  }

  async test(): Promise<AuditTargetTest> {
    const { target, source, signal, name } = this.#parts
    try {
      if (target.takes === 'entries') await target.probe(signal)
      else await target.witness((await source.notesAfter(0)).slice(-1), signal)
      return { name, delivered: true, detail: null }
    } catch (cause) {
      return { name, delivered: false, detail: describe(cause) }
    }
  }

  async stopped(): Promise<void> {
    await this.#busy.catch(() => undefined)
  }

  /** Whether all went well; a failure is kept until the next time. */
  async #once(work: () => Promise<void>): Promise<boolean> {
    const { log, signal, name } = this.#parts
    const done = work()
    this.#busy = done
    try {
      await done
      this.#failure = null
      this.#failures = 0
      return true
    } catch (cause) {
      if (signal.aborted) return false
      if (this.#failure === null) log.error({ err: cause, target: name }, 'audit export failed')
      this.#failure = describe(cause)
      this.#failures += 1
      return false
    }
  }

  async #deliver(): Promise<void> {
    const { target, source, signal } = this.#parts
    if (target.takes === 'checkpoints') {
      const notes = await source.notesAfter(this.#cursor.size)
      const last = notes.at(-1)
      if (!last) return
      await target.witness(notes, signal)
      return this.#moveOn({ size: last.size, head: '', peaks: [] })
    }
    for (;;) {
      const part = source.partFrom(this.#cursor)
      if (!part || signal.aborted) return
      await target.deliver(part, signal)
      this.#moveOn(part.to)
    }
  }

  #moveOn(state: LogState): void {
    this.#parts.source.writeCursor(this.name, state)
    this.#cursor = state
    this.#deliveredAt = this.#parts.clock.wall()
  }
}
