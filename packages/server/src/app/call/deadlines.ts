import type { Clock } from '../../ports/clock.ts'

class Entry implements Disposable {
  readonly dueMs: number
  readonly late: () => void
  readonly #among: Set<Entry>

  constructor(dueMs: number, late: () => void, among: Set<Entry>) {
    this.dueMs = dueMs
    this.late = late
    this.#among = among
    among.add(this)
  }

  [Symbol.dispose](): void {
    this.#among.delete(this)
  }
}

type Lane = { readonly entries: Set<Entry>; timer: Disposable | null }

/**
 * The deadlines of running calls. Calls of one length end in the order they began, so each length needs
 * one timer for its oldest call, and not one for each call.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #lanes = new Map<number, Lane>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back once after `ms` unless disposed before. */
  start(ms: number, late: () => void): Disposable {
    let lane = this.#lanes.get(ms)
    if (!lane) {
      lane = { entries: new Set(), timer: null }
      this.#lanes.set(ms, lane)
    }
    const entry = new Entry(this.#clock.now() + ms, late, lane.entries)
    if (!lane.timer) this.#arm(lane, ms)
    return entry
  }

  #arm(lane: Lane, ms: number): void {
    lane.timer = this.#clock.after(ms, () => {
      lane.timer = null
      const nowMs = this.#clock.now()
      for (const entry of lane.entries) {
        if (entry.dueMs > nowMs) {
          this.#arm(lane, entry.dueMs - nowMs)
          return
        }
        lane.entries.delete(entry)
        entry.late()
      }
    })
  }
}

/** The deadline of one call, which stands still while a person is asked. */
export class CallDeadline implements Disposable {
  readonly #deadlines: Deadlines
  #start: (() => Disposable) | null = null
  #entry: Disposable | null = null
  #asked = 0

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  /** To be called once what the call does goes on after this turn: what is over by then has no deadline. */
  begin(ms: number, late: () => void): void {
    this.#start = () => this.#deadlines.start(ms, late)
    if (this.#asked === 0) this.#entry = this.#start()
  }

  /** A call that was answered has its whole time again: whoever waits for a person is bounded elsewhere. */
  async standStill<T>(ask: () => Promise<T>): Promise<T> {
    this.#entry?.[Symbol.dispose]()
    this.#entry = null
    this.#asked += 1
    try {
      return await ask()
    } finally {
      this.#asked -= 1
      if (this.#asked === 0) this.#entry = this.#start?.() ?? null
    }
  }

  [Symbol.dispose](): void {
    this.#start = null
    this.#entry?.[Symbol.dispose]()
  }
}
