import type { AuditEntry } from '@gatehouse/contract'
import { genesis, type LogState } from '../domain/audit/chain.ts'
import { entryOf } from '../domain/audit/entry.ts'
import type { ChainHead } from '../domain/audit/heads-root.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import { rowOfEntry } from './read-groups.ts'
import type { RecordedRoot } from './recorded-root.ts'
import {
  digestLog,
  type Entries,
  type Found,
  hashAt,
  type Question,
  verifyChain,
} from './verify-chain.ts'

/** The act by which a person accepts the damage of a log. */
export const acceptanceAct = 'audit.acknowledged'

/** Acceptance of a log as it is, as the entry about it says. */
export type Acceptance = {
  /** Log that was accepted. */
  readonly log: string
  readonly by: string
  readonly at: string
  readonly reason: string
  readonly entry: AuditEntry['id']
  /** Place of that entry. */
  readonly chain: string
  readonly seq: number
  /** Entries before this number are as damaged as they were. */
  readonly size: number
  /** Of those entries. */
  readonly digest: string
  /** State that the log went on from; null where another process accepted it, which knows no more than the entries. */
  readonly state: LogState | null
  /** Fingerprint of its key then; null where that is not told. */
  readonly key: string | null
  /** Roots that were made up to then say how the log was before. */
  readonly roots_through: string
}

type Fields = Readonly<Record<string, unknown>>

const hex = /^[0-9a-f]{64}$/
const isHash = (value: unknown): value is string => typeof value === 'string' && hex.test(value)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const stateOf = (size: number, { head, peaks }: Fields): LogState | null => {
  if (!isHash(head) || !Array.isArray(peaks) || !peaks.every(isHash)) return null
  return frontierFits(size, peaks) ? { size, head, peaks } : null
}

const readAcceptance = (entry: AuditEntry): Acceptance | null => {
  const { capability, chain, seq, id, actor, timestamp, arguments: told } = entry
  const { reason, log } = (told ?? {}) as Fields
  const detail = (entry.detail ?? {}) as Fields
  const { entries: size, exported, digest, key, roots_through } = detail
  const known = log === undefined ? exported : digest
  if (capability !== acceptanceAct || !isHash(known)) return null
  if (typeof size !== 'number' || !Number.isSafeInteger(size)) return null
  return {
    ...{ log: textOf(log ?? chain), by: actor, at: timestamp, reason: textOf(reason), entry: id },
    ...{ chain, seq, size, digest: known },
    state: log === undefined ? stateOf(size, detail) : null,
    key: typeof key === 'string' ? key : null,
    roots_through: textOf(roots_through) > timestamp ? textOf(roots_through) : timestamp,
  }
}

/** Sentence about an acceptance. */
export const acceptedText = ({ log, by, at, entry, reason }: Acceptance): string =>
  `the log of ${log} is as damaged as ${by} accepted it at ${at} (${entry}: ${reason})`

type Parts = {
  readonly entries: Entries
  /** Logs in which acceptances may be. */
  readonly chains: readonly string[]
}

/** Acceptances that an export has, and those of them that its verification relied on. */
export class Acceptances {
  readonly #parts: Parts
  #all: readonly Acceptance[] | null = null
  readonly #used = new Map<Acceptance, Fault | null>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Acceptances that the verification relied on. */
  get used(): readonly Acceptance[] {
    return [...this.#used.keys()]
  }

  /** Damaged part of a log, from its first fault to where it is verified again; null where none was accepted. */
  partOf(log: string): { readonly fault: number; readonly end: number } | null {
    for (const [one, fault] of this.#used)
      if (one.log === log) return { fault: fault?.seq ?? 0, end: one.size }
    return null
  }

  /** Verifies a log; where it is damaged, from where a person accepted it on. */
  async verify(question: Question): Promise<Found> {
    const found = await verifyChain(question)
    if (!found.fault) return found
    for (const one of await this.#about(question.chain)) {
      const { state, size, digest } = one
      // Without its frontier no root can be made of what follows.
      if (found.fault.seq >= size || (question.tree && !state)) continue
      const head = state?.head ?? (await this.#headAt(one))
      const baseline = { size, head, peaks: state?.peaks ?? [], digest }
      const rest = await verifyChain({ ...question, baseline })
      if (rest.fault && rest.fault.seq < size) continue
      this.#used.set(one, found.fault)
      return rest
    }
    return found
  }

  /** The head of a log as a person accepted it after a root was made. */
  async headSince(log: string, { timestamp, heads }: RecordedRoot): Promise<ChainHead | null> {
    for (const one of await this.#about(log)) {
      if (one.roots_through < timestamp || !(await this.#isAsAccepted(one))) continue
      if (!this.#used.has(one)) this.#used.set(one, null)
      const key = one.key ?? heads.find(({ chain }) => chain === log)?.key ?? ''
      return { chain: log, size: one.size, head: await this.#headAt(one), key }
    }
    return null
  }

  /**
   * Fault of a log that is accepted by an entry for which nobody vouches: `isVouchedFor` tells whether a signature is over it.
   * @SECURITY Whoever changes an export could write the entry as well; acceptances.test.ts.
   */
  async findUnsigned(
    isVouchedFor: (place: Pick<Acceptance, 'chain' | 'seq'>) => Promise<boolean>,
  ): Promise<Fault | null> {
    for (const [one, fault] of this.#used)
      if (!(await isVouchedFor(one)))
        return {
          ...(fault ?? { kind: 'modified', seq: one.size, id: null }),
          detail: `${fault?.detail ?? `the log of ${one.log} is another than under the newest root`}; no signature covers ${one.entry}, by which it was accepted`,
        }
    return null
  }

  /** Of the longest state first, which is the newest. */
  async #about(log: string): Promise<readonly Acceptance[]> {
    this.#all ??= await this.#read()
    return this.#all.filter((one) => one.log === log)
  }

  async #read(): Promise<readonly Acceptance[]> {
    const found: Acceptance[] = []
    for (const chain of this.#parts.chains)
      for await (const group of this.#parts.entries(chain, 0))
        for (const entry of group) {
          const row = entry.body.includes(`"${acceptanceAct}"`) ? rowOfEntry(entry) : null
          const one = row?.chain === chain ? readAcceptance(entryOf(row)) : null
          if (one) found.push(one)
        }
    return found.toSorted((a, b) => b.size - a.size)
  }

  async #isAsAccepted({ log, size, digest }: Acceptance): Promise<boolean> {
    return (await digestLog({ entries: this.#parts.entries }, log, size)).entries === digest
  }

  async #headAt({ log, size }: Acceptance): Promise<string> {
    return (size > 0 ? await hashAt(this.#parts, log, size - 1) : null) ?? genesis
  }
}
