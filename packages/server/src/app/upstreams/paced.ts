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
