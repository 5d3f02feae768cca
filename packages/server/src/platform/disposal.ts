type Opened = Disposable | AsyncDisposable

/** Closes what was opened, in reverse. Everything is closed even when something fails; the first failure is thrown. */
export class Disposal implements AsyncDisposable {
  #close: (() => unknown)[] = []

  use<T extends Opened>(opened: T): T {
    this.#close.push(() =>
      Symbol.asyncDispose in opened ? opened[Symbol.asyncDispose]() : opened[Symbol.dispose](),
    )
    return opened
  }

  defer(close: () => unknown): void {
    this.#close.push(close)
  }

  /** Hands everything to a new owner; what stays behind closes nothing. */
  move(): Disposal {
    const next = new Disposal()
    next.#close = this.#close
    this.#close = []
    return next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#close.pop(); close; close = this.#close.pop()) {
      try {
        await close()
      } catch (cause) {
        failures.push(cause)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
