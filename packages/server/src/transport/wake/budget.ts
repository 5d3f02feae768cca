/** Budget of so many a second and no more: the rest of a second is not saved up. */
export class Budget {
  readonly #perSecond: number
  readonly #nowMs: () => number
  #sinceMs = -Infinity
  #used = 0

  constructor(perSecond: number, nowMs: () => number) {
    this.#perSecond = perSecond
    this.#nowMs = nowMs
  }

  take(): boolean {
    const nowMs = this.#nowMs()
    if (nowMs - this.#sinceMs >= 1_000) {
      this.#sinceMs = nowMs
      this.#used = 0
    }
    if (this.#used >= this.#perSecond) return false
    this.#used += 1
    return true
  }
}
