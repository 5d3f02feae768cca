import { GatehouseError } from '@gatehouse/contract'

/** Ends a transfer from which nothing has come for a while, however long it may take in all. */
export class StallGuard implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly signal: AbortSignal

  constructor(stallMs: number, outer: AbortSignal) {
    const reason = new GatehouseError('TimedOut', { timeout_seconds: stallMs / 1000 })
    this.#timer = setTimeout(() => this.#controller.abort(reason), stallMs)
    this.signal = AbortSignal.any([outer, this.#controller.signal])
  }

  alive(): void {
    this.#timer.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
