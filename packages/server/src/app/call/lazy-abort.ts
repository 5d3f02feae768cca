/** An AbortController whose signal is made when somebody first wants it: most calls never do. */
export class LazyAbort {
  #controller: AbortController | null = null
  #reason: { readonly value: unknown } | null = null

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason.value)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#reason ??= { value: reason }
    this.#controller?.abort(reason)
  }
}
