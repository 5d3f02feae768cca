import type { Clock } from '../../ports/clock.ts'

const windowMs = 60_000
const failuresMax = 5
/** More addresses than this at once: the oldest is forgotten, so that memory stays bounded. */
const addressesMax = 10_000

type Tries = {
  /** When each failure was, or an attempt began that has no end yet. */
  readonly stamps: number[]
  /** Failures since the last report. */
  unreported: number
  reportedMs: number
}

export type Attempt = {
  /** Gives the attempt back: it was no failure. */
  succeeded(): void
  /** Counts it, and says how many are to be reported now. */
  failed(): number
}

/**
 * Five failures in any minute and address, then no more attempts. What is under way counts as failed
 * until it is known, so that many at once get no further than one after the other.
 */
export class LoginAttempts {
  readonly #clock: Pick<Clock, 'now'>
  readonly #tries = new Map<string, Tries>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** The attempt, or the seconds to wait for the next one. */
  begin(address: string): Attempt | number {
    const now = this.#clock.now()
    const tries = this.#triesOf(address)
    while (tries.stamps[0] !== undefined && tries.stamps[0] <= now - windowMs) tries.stamps.shift()
    if (tries.stamps.length >= failuresMax)
      return Math.ceil(((tries.stamps[0] ?? now) + windowMs - now) / 1000)
    tries.stamps.push(now)
    return {
      succeeded: () => {
        const at = tries.stamps.indexOf(now)
        if (at !== -1) tries.stamps.splice(at, 1)
      },
      failed: () => {
        tries.unreported += 1
        return this.#report(tries)
      },
    }
  }

  /** Reports of the minutes that are over; forgets addresses that are quiet again. */
  sweep(): readonly { readonly address: string; readonly count: number }[] {
    const now = this.#clock.now()
    const reports: { address: string; count: number }[] = []
    for (const [address, tries] of this.#tries) {
      const count = this.#report(tries)
      if (count > 0) reports.push({ address, count })
      if ((tries.stamps.at(-1) ?? 0) <= now - windowMs && tries.unreported === 0)
        this.#tries.delete(address)
    }
    return reports
  }

  #report(tries: Tries): number {
    const now = this.#clock.now()
    if (tries.unreported === 0 || now - tries.reportedMs < windowMs) return 0
    const count = tries.unreported
    tries.unreported = 0
    tries.reportedMs = now
    return count
  }

  #triesOf(address: string): Tries {
    const known = this.#tries.get(address)
    if (known) return known
    const oldest = this.#tries.keys().next().value
    if (this.#tries.size >= addressesMax && oldest !== undefined) this.#tries.delete(oldest)
    const tries: Tries = { stamps: [], unreported: 0, reportedMs: -windowMs }
    this.#tries.set(address, tries)
    return tries
  }
}
