import type { ChangedKind, Storage } from '../../ports/storage.ts'
import type { Basics } from './basics.ts'

type Deps = Pick<Basics, 'clock' | 'log'> & {
  readonly storage?: Pick<Storage, 'onForeignChange'>
  readonly signal: AbortSignal
}

type Polling = {
  /** Name of the look for the log, where one fails. */
  readonly name: string
  readonly everyMs: number
  /** Looks at once when another node changed rows of these kinds. */
  readonly follows?: readonly ChangedKind[]
  /** Looks once; a number it returns is the wait for the next look, in ms. */
  readonly look: () => Promise<number | void>
}

/** Looks that fail one after the other come ever later, up to this. */
const failingWaitMs = 5_000

/** Looks again and again until the signal aborts. No look begins before the last one has ended. */
export class PollLoop {
  readonly #deps: Deps
  readonly #polling: Polling
  #nudged = new AbortController()
  #ended: Promise<void> = Promise.resolve()

  constructor(deps: Deps, polling: Polling) {
    this.#deps = deps
    this.#polling = polling
  }

  /** The first look is at once, unless told to wait for it as for any other. */
  start(first: 'now' | 'later' = 'now'): void {
    const { signal } = this.#deps
    // An aborted signal tells nobody any more.
    if (signal.aborted) return
    signal.addEventListener('abort', () => this.nudge(), { once: true })
    for (const kind of this.#polling.follows ?? []) {
      const following = this.#deps.storage?.onForeignChange(kind, () => this.nudge())
      signal.addEventListener('abort', () => following?.[Symbol.dispose](), { once: true })
    }
    this.#ended = this.#run(first === 'now' ? 0 : this.#polling.everyMs)
  }

  /** Looks at once, or once more after a look that is under way. */
  nudge(): void {
    this.#nudged.abort()
  }

  /** Resolves when no look is under way any more; the signal must have aborted. */
  stopped(): Promise<void> {
    return this.#ended
  }

  async #run(firstWaitMs: number): Promise<void> {
    const { clock, log, signal } = this.#deps
    const { name, everyMs, look } = this.#polling
    let waitMs = firstWaitMs
    for (let failures = 0; ; ) {
      if (waitMs > 0) await clock.sleep(waitMs, this.#nudged.signal)
      if (signal.aborted) return
      this.#nudged = new AbortController()
      try {
        waitMs = (await look()) ?? everyMs
        failures = 0
      } catch (cause) {
        if (!signal.aborted) log.error({ err: cause }, `${name} failed`)
        waitMs = Math.min(everyMs * 2 ** failures, Math.max(everyMs, failingWaitMs))
        failures += 1
      }
    }
  }
}
