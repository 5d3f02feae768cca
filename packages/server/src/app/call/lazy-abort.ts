/** An AbortController whose signal is made when somebody first wants it: most calls never do. */
export class LazyAbort {
  #controller: AbortController | null = null
  #abortion: { readonly reason: unknown } | null = null

  get aborted(): boolean {
    return this.#abortion !== null
  }

  /** Reason of the first abort. */
  get reason(): unknown {
    return this.#abortion?.reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#abortion) this.#controller.abort(this.#abortion.reason)
    }
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.#abortion) return
    this.#abortion = { reason }
    this.#controller?.abort(reason)
  }
}
