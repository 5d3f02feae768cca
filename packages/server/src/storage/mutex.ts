/** First come, first served. Taking a free one costs no turn of the event loop. */
export class FifoMutex {
  #held = false
  readonly #waiting: (() => void)[] = []

  get isHeld(): boolean {
    return this.#held
  }

  /** Takes it if it is free. */
  tryLock(): boolean {
    if (this.#held) return false
    this.#held = true
    return true
  }

  async lock(): Promise<void> {
    if (this.tryLock()) return
    // Unlocking hands the lock over: it is never free in between, so nobody overtakes.
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  unlock(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held = false
  }

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    await this.lock()
    try {
      return await work()
    } finally {
      this.unlock()
    }
  }

  /** Runs at once where nobody holds it; otherwise in turn. What it throws rejects the promise. */
  runNow(work: () => void): Promise<void> {
    if (!this.tryLock()) return this.run(work)
    try {
      work()
      return Promise.resolve()
    } catch (error) {
      return Promise.reject(error)
    } finally {
      this.unlock()
    }
  }
}
