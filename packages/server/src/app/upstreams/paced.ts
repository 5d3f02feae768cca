import type { Clock } from '../../ports/clock.ts'

type Pace = { readonly clock: Clock; readonly paceMs: number; readonly signal: AbortSignal }

/** Tells of the first of many changes at once, and of those within the pace after it as one. */
export class Paced {
  readonly #pace: Pace
  readonly #tell: () => void
  #hasChanged = false
  #isTelling = false

  constructor(pace: Pace, tell: () => void) {
    this.#pace = pace
    this.#tell = tell
  }

  heard(): void {
    this.#hasChanged = true
    if (!this.#isTelling) void this.#tellAll()
  }

  async #tellAll(): Promise<void> {
    const { clock, paceMs, signal } = this.#pace
    this.#isTelling = true
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false
      this.#tell()
      await clock.sleep(paceMs, signal)
    }
    this.#isTelling = false
  }
}

type Bursts = { readonly clock: Clock; readonly paceMs: number; readonly atOnce: number }

/** Lets so many go on at once, and then one in each pace, until there was none for as long. */
export class Burst {
  readonly #bursts: Bursts
  #count = 0
  #lastMs = -Infinity

  constructor(bursts: Bursts) {
    this.#bursts = bursts
  }

  /** Resolves when the next one may go on. Raises what the signal aborts with. */
  async next(signal: AbortSignal): Promise<void> {
    const { clock, paceMs, atOnce } = this.#bursts
    if (clock.now() - this.#lastMs >= paceMs) this.#count = 0
    this.#count += 1
    if (this.#count > atOnce) await clock.sleep(paceMs, signal)
    signal.throwIfAborted()
    this.#lastMs = clock.now()
  }
}
