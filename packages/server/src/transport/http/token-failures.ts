import { isIPv4, isIPv6 } from 'node:net'

const windowMs = 60_000
/** More addresses than this at once: the oldest is forgotten, so that memory stays bounded. */
const addressesMax = 10_000

/** The eight groups of an IPv6 address, `::` filled in. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const fill = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(fill).fill('0'), ...right]
}

/** One key a peer: IPv4 mapped into IPv6 is IPv4, and an IPv6 peer is its /64. */
export const addressKey = (address: string | undefined): string => {
  if (!address) return 'unknown'
  const plain = address.split('%')[0] ?? address
  const mapped = plain.toLowerCase().startsWith('::ffff:') ? plain.slice(7) : plain
  if (isIPv4(mapped)) return mapped
  if (!isIPv6(plain)) return plain
  return `${groupsOf(plain)
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

export type TokenFailureReport = { readonly address: string; readonly count: number }

/**
 * Counts wrong tokens by address. It never stands in the way of a valid one: on loopback all agents
 * share an address, and a block would let one broken agent stop all. The first failure of a minute is
 * reported at once, the rest of that minute as one number.
 */
export class TokenFailures {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #report: (report: TokenFailureReport) => void
  readonly #counts = new Map<string, { count: number; readonly since: number }>()

  constructor(perMinute: number, now: () => number, report: (report: TokenFailureReport) => void) {
    this.#perMinute = perMinute
    this.#now = now
    this.#report = report
  }

  /** Counts one and says whether the address has used up its failures of this minute. */
  add(remoteAddress: string | undefined): { readonly limited: boolean } {
    const address = addressKey(remoteAddress)
    const now = this.#now()
    const entry = this.#counts.get(address)
    if (entry && now - entry.since < windowMs) {
      entry.count++
      return { limited: entry.count > this.#perMinute }
    }
    if (entry) this.#end(address, entry.count)
    if (this.#counts.size >= addressesMax) this.#forgetOldest()
    this.#counts.set(address, { count: 1, since: now })
    this.#report({ address, count: 1 })
    return { limited: this.#perMinute < 1 }
  }

  /** Ends the minutes that are over; call it now and then. */
  sweep(): void {
    const now = this.#now()
    for (const [address, entry] of this.#counts) {
      if (now - entry.since < windowMs) continue
      this.#end(address, entry.count)
    }
  }

  #end(address: string, count: number): void {
    this.#counts.delete(address)
    if (count > 1) this.#report({ address, count: count - 1 })
  }

  #forgetOldest(): void {
    const oldest = this.#counts.entries().next().value
    if (oldest) this.#end(oldest[0], oldest[1].count)
  }
}
