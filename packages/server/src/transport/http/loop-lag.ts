/**
 * Watches how late the event loop is. Once each look for `shedAfterMs` found it later than `lagMs`, it
 * asks to shed new calls until one look is on time again.
 */
export class LoopLag {
  readonly #lagMs: number
  readonly #shedAfterMs: number
  #lastMs: number
  #lateSinceMs: number | null = null
  #shedding = false

  constructor(lagMs: number, shedAfterMs: number, nowMs: number) {
    this.#lagMs = lagMs
    this.#shedAfterMs = shedAfterMs
    this.#lastMs = nowMs
  }

  get shedding(): boolean {
    return this.#shedding
  }

  /** One look, which was due `everyMs` after the last one. */
  look(nowMs: number, everyMs: number): void {
    const late = nowMs - this.#lastMs - everyMs > this.#lagMs
    const before = this.#lastMs
    this.#lastMs = nowMs
    if (!late) {
      this.#lateSinceMs = null
      this.#shedding = false
      return
    }
    this.#lateSinceMs ??= before
    this.#shedding = nowMs - this.#lateSinceMs >= this.#shedAfterMs
  }
}
