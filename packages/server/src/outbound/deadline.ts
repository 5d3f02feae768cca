import { setMaxListeners } from 'node:events'
import { GatehouseError } from '@gatehouse/contract'

/** The end of a request: by its own time or by whoever asked for it. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #caller: AbortSignal
  readonly #onAbort: () => void
  #reason: unknown = null

  constructor(timeoutMs: number, caller: AbortSignal) {
    this.#caller = caller
    this.#onAbort = () => this.#end(caller.reason)
    this.#timer = setTimeout(
      () => this.#end(new GatehouseError('TimedOut', { timeout_seconds: timeoutMs / 1000 })),
      timeoutMs,
    )
    // Many requests may run under one signal, such as all of a connection: each listens until it has ended.
    setMaxListeners(0, caller)
    caller.addEventListener('abort', this.#onAbort, { once: true })
    if (caller.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why it ended before its time; null while it has not. */
  get reason(): unknown {
    return this.#reason
  }

  #end(reason: unknown): void {
    this.#reason ??= reason
    this.#controller.abort(reason)
  }

  /** Result of the work, unless the end comes first. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const aborted = () => reject(this.#reason as Error)
      if (this.signal.aborted) return aborted()
      this.signal.addEventListener('abort', aborted, { once: true })
      work.then(resolve, reject)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#caller.removeEventListener('abort', this.#onAbort)
  }
}
