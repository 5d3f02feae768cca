import type { LogState } from '../domain/audit/chain.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { OtherChains } from '../ports/audit-rows.ts'
import type { AcceptedLog, AcceptedLogs } from './accepted-logs.ts'
import { type ChainStarts, type Starts, startOf } from './chain-starts.ts'
import { findStrayEnd } from './check-copies.ts'
import type { ChainQuestion, Found } from './verify-chain.ts'

/** Finding, and where it is in the log of another process, which one that is. */
export type Finding = Fault & {
  readonly log?: string
  /** Audit entry by which a person accepted that log before. */
  readonly accepted?: string
}

type Parts = {
  /** Chains of other processes that nobody else verifies. */
  readonly others: Pick<OtherChains, 'ends' | 'read'>
  readonly starts: ChainStarts
  readonly accepted: Pick<AcceptedLogs, 'find' | 'forget' | 'stateOf' | 'use'>
  /** Chain of this process. */
  readonly own: string
  readonly verify: (question: ChainQuestion, end: number) => Promise<Found>
}

/** `all`: from their beginnings. `few`: the same where there are so few entries of them. `changes`: how often somebody changed any. */
export type OthersQuestion = {
  readonly all: boolean
  readonly few: number | null
  readonly changes: number
}

type Chain = { readonly name: string; readonly start: LogState; readonly end: number }

/** A finding that names the log that it is in. */
const inLogOf = (log: string, fault: Fault, accepted: AcceptedLog | null): Finding => {
  const { accepted_at: at, entry } = accepted ?? {}
  const since = at ? `; it was accepted as it was at ${at}, and has changed since` : ''
  return {
    ...{ ...fault, log, detail: `in the log of ${log}: ${fault.detail}${since}` },
    ...(entry ? { accepted: entry } : {}),
  }
}

/** Verifies the logs of other processes, where nobody else does. */
export class OtherLogs {
  readonly #parts: Parts
  readonly #verified = new Map<string, LogState>()
  /** Changes that there were when all were last found sound from their beginnings; there may be too many for that. */
  #seen = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The entries of all, up to so many of them each time: of several nodes one verifies them all in the background. */
  find(question: OthersQuestion): Promise<Finding | null> {
    return this.#parts.starts.steady(
      (starts) => this.#look(starts, question),
      (found) => found !== null,
    )
  }

  async #look(starts: Starts, { all, few, changes }: OthersQuestion): Promise<Finding | null> {
    const { others, own } = this.#parts
    const chains = (await others.ends())
      .filter(({ chain }) => chain !== own)
      .map(({ chain: name, next: end }) => ({ name, start: startOf(starts, name), end }))
    const entries = chains.reduce((sum, { start, end }) => sum + end - start.size, 0)
    const whole = all || (few !== null && entries <= few) || this.#seen !== changes
    if (whole) this.#seen = -1
    for (const chain of chains) {
      const found = await this.#verify(chain, whole)
      if (found) return found
    }
    if (whole) this.#seen = changes
    return null
  }

  async #verify(chain: Chain, whole: boolean): Promise<Finding | null> {
    const { name } = chain
    const { accepted } = this.#parts
    const isKnown = this.#verified.has(name)
    const fault = await this.#findFault(chain, whole)
    if (fault === null) {
      if (whole) accepted.forget(name)
      return null
    }
    const before = await accepted.find(name)
    const left = before ? await this.#findSince(chain, whole || isKnown, before, fault) : fault
    if (before && left === null) accepted.use(before)
    return left && inLogOf(name, left, before)
  }

  /** Goes on from what was verified, or from the start. */
  async #findFault({ name, start, end }: Chain, whole: boolean): Promise<Fault | null> {
    const known = this.#verified.get(name)
    // A number that somebody forged must not make a log so long that nobody reads it.
    if (end <= 0 || !(whole || known))
      return findStrayEnd(this.#parts.others, name, start.size, end)
    const from = !whole && known && known.size > start.size ? known : start
    return this.#verifyFrom(from, { name, start, end })
  }

  /** Fault that was not there when a person accepted the log. */
  async #findSince(
    chain: Chain,
    reads: boolean,
    before: AcceptedLog,
    fault: Fault,
  ): Promise<Fault | null> {
    const { name, start, end } = chain
    const { accepted, others } = this.#parts
    if (end <= 0) return (await accepted.stateOf(name)).digest === before.digest ? null : fault
    if (end < before.size || before.size <= start.size) return fault
    if (reads) return this.#verifyFrom(start, chain, before)
    return end === before.size ? null : findStrayEnd(others, name, before.size, end)
  }

  async #verifyFrom(
    from: LogState,
    { name, end }: Chain,
    baseline: AcceptedLog | null = null,
  ): Promise<Fault | null> {
    const question = { chain: name, from, tree: false, anchors: [], baseline }
    const { state, fault } = await this.#parts.verify(question, end)
    this.#verified.set(name, state)
    return fault
  }
}
