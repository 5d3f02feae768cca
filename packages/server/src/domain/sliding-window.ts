/** One use of one limit, as it is stored. `key` names agent, pattern and window and is opaque here. */
export type LimitStamp = {
  readonly key: string
  readonly at_ms: number
  readonly window_ms: number
}

/** A limit that applies to a call. Equal keys have equal windows; their limits may differ. */
export type LimitKey = { readonly key: string; readonly limit: number; readonly window_ms: number }

export type LimitVerdict =
  | { readonly kind: 'allowed'; readonly stamps: readonly LimitStamp[] }
  | { readonly kind: 'limited'; readonly key: LimitKey; readonly retry_after_ms: number }

/** The moments of one key, oldest first. Those before `head` have left the window. */
type Log = { readonly window_ms: number; stamps: number[]; head: number }

const compactAbove = 1024
const sweptPerTake = 2

/**
 * Exact sliding windows: a log of stamps for each key, never a bucket, which would let nearly twice the
 * limit through. A stamp is never older than the one before it, whatever the clock says, so the promise
 * holds for every window and not only for those that end now.
 */
export class SlidingWindows {
  readonly #logs = new Map<string, Log>()
  #sweep: MapIterator<[string, Log]> = this.#logs.entries()

  /** Counts a use that was stored earlier. Uses of one key come oldest first. */
  restore(stamp: LimitStamp): void {
    this.#push(stamp.key, stamp.window_ms, stamp.at_ms)
  }

  take(keys: readonly LimitKey[], nowMs: number): LimitVerdict {
    this.#sweepSome(nowMs)
    let worst: { key: LimitKey; retry_after_ms: number } | null = null
    for (const key of keys) {
      const wait = this.#wait(key, nowMs)
      if (wait > 0 && wait > (worst?.retry_after_ms ?? 0)) worst = { key, retry_after_ms: wait }
    }
    if (worst) return { kind: 'limited', ...worst }
    const stamps = new Map<string, LimitStamp>()
    for (const { key, window_ms } of keys) {
      // Two limits of one key (say, of two policy layers) count one use once.
      if (stamps.has(key)) continue
      stamps.set(key, { key, window_ms, at_ms: this.#push(key, window_ms, nowMs) })
    }
    return { kind: 'allowed', stamps: [...stamps.values()] }
  }

  used(key: LimitKey, nowMs: number): number {
    const log = this.#logs.get(key.key)
    if (!log) return 0
    this.#expire(log, nowMs)
    return log.stamps.length - log.head
  }

  /** How many keys are held, for tests of the bound. */
  get size(): number {
    return this.#logs.size
  }

  /** How long until a use passes; 0 = now. */
  #wait({ key, limit, window_ms }: LimitKey, nowMs: number): number {
    const log = this.#logs.get(key)
    if (!log) return 0
    this.#expire(log, nowMs)
    if (log.stamps.length - log.head < limit) return 0
    // The use passes once this stamp is out, which leaves limit − 1 of them.
    const blocking = log.stamps[log.stamps.length - limit]
    return blocking === undefined ? 0 : blocking + window_ms - nowMs
  }

  #push(key: string, window_ms: number, atMs: number): number {
    let log = this.#logs.get(key)
    if (!log) {
      log = { window_ms, stamps: [], head: 0 }
      this.#logs.set(key, log)
    }
    const at = Math.max(atMs, log.stamps.at(-1) ?? atMs)
    log.stamps.push(at)
    return at
  }

  #expire(log: Log, nowMs: number): void {
    const now = Math.max(nowMs, log.stamps.at(-1) ?? nowMs)
    const { stamps, window_ms } = log
    while (log.head < stamps.length && (stamps[log.head] as number) <= now - window_ms) log.head++
    if (log.head > compactAbove && log.head * 2 > stamps.length) {
      log.stamps = stamps.slice(log.head)
      log.head = 0
    }
  }

  /** Looks at a few keys a call and forgets idle ones, so that memory follows what is in use. */
  #sweepSome(nowMs: number): void {
    for (let i = 0; i < sweptPerTake; i++) {
      const next = this.#sweep.next()
      if (next.done) {
        this.#sweep = this.#logs.entries()
        return
      }
      const [key, log] = next.value
      const newest = log.stamps.at(-1)
      if (newest === undefined || newest <= nowMs - log.window_ms) this.#logs.delete(key)
    }
  }
}
