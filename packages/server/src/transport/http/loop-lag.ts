/**
 * Watches how late the event loop is: it lags once each look for `lagsAfterMs` found it later than `lagMs`, until one
 * look is on time again. That may be the calls of the service, or other programs that have the machine.
 */
export class LoopLag {
  readonly #lagMs: number
  readonly #lagsAfterMs: number
  #lastMs: number
  #lateSinceMs: number | null = null
  #lags = false

  constructor(lagMs: number, lagsAfterMs: number, nowMs: number) {
    this.#lagMs = lagMs
    this.#lagsAfterMs = lagsAfterMs
    this.#lastMs = nowMs
  }

  get lags(): boolean {
    return this.#lags
  }

  /** One look, which was due `everyMs` after the last one. */
  look(nowMs: number, everyMs: number): void {
    const late = nowMs - this.#lastMs - everyMs > this.#lagMs
    const before = this.#lastMs
    this.#lastMs = nowMs
    if (!late) {
      this.#lateSinceMs = null
      this.#lags = false
      return
    }
    this.#lateSinceMs ??= before
    this.#lags = nowMs - this.#lateSinceMs >= this.#lagsAfterMs
  }
}
