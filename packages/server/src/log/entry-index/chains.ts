import type { AuditRow, ReadableChains } from '../../ports/audit-rows.ts'
import { type ChainStarts, type Starts, startOf } from '../chain-starts.ts'
import { copiesOf } from '../chain-verifier.ts'
import type { LoggedEntry } from '../frame.ts'
import type { Sealer } from '../keys.ts'
import type { LogReader } from '../log-files.ts'
import { rowOfEntry } from '../read-groups.ts'
import { BlockFiles } from './block-files.ts'
import { ChainIndex, type Place } from './chain-index.ts'
import type { Conditions } from './conditions.ts'

export type IndexParts = {
  readonly directory: string
  /** The chain whose entries the files have. */
  readonly chain: string
  readonly files: Pick<LogReader, 'entry' | 'entries'>
  readonly sealer: Sealer
  /** The number of the first entry of this node's chain that is left. */
  readonly start: () => number
  /** The chains of other processes, and where they begin. */
  readonly others: ReadableChains
  readonly starts: ChainStarts
}

/** Entries between two turns of the event loop: a few milliseconds. */
const sliceEntries = 512

/**
 * Numbers that may lack in the log of another process. Each keeps its place in the index: with a number that somebody forged it
 * would take all memory, so entries behind so many are not listed, and answers say so.
 */
export const gapMax = 1 << 20

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

type End = { readonly chain: string; readonly next: number }

/** Entry behind so many missing ones that it is not listed, nor are those after it, and the number that was to follow. */
export type Unlisted = { readonly chain: string; readonly from: number; readonly expected: number }

/** The indexes of this process' chain and of those of others, each beside the entries that it is made of. */
export class Chains {
  readonly #parts: IndexParts
  readonly #blocks: BlockFiles
  readonly own: ChainIndex
  readonly #others = new Map<string, ChainIndex>()
  /** Where the others began when they were last looked at. */
  #starts: Starts = new Map()
  /** How many of them there were then. */
  othersSeen = 0
  /** Entries of them that are not listed. */
  unlisted: readonly Unlisted[] = []

  constructor(parts: IndexParts) {
    this.#parts = parts
    this.#blocks = new BlockFiles(parts.directory, parts.sealer)
    this.own = this.#indexOf(parts.chain)
  }

  /** Takes what the disk has of this node's index. */
  load(): Promise<void> {
    return this.own.load((seq) => this.#parts.files.entry(seq)?.hash ?? null)
  }

  /** The chains of other processes, and where they end by now; they are indexed up to there. */
  async refresh(): Promise<readonly End[]> {
    const { others, chain, starts } = this.#parts
    const ends = (await others.ends()).filter((end) => end.chain !== chain)
    this.othersSeen = ends.length
    const before = this.#starts
    this.#starts = await starts.read()
    const unlisted: Unlisted[] = []
    for (const { chain: name, next } of ends) {
      const known = this.#others.get(name) ?? (await this.#open(name))
      this.#others.set(name, known)
      const { size } = startOf(this.#starts, name)
      if (size > startOf(before, name).size) await known.removeBefore(size)
      const from = known.end < next ? await this.bringIn(known, next) : null
      if (from !== null) unlisted.push({ chain: name, from, expected: known.end })
    }
    this.unlisted = unlisted
    return ends
  }

  async all(): Promise<readonly ChainIndex[]> {
    await this.refresh()
    return [this.own, ...this.#others.values()]
  }

  /** Indexes the entries of a chain that are not, before `end`. Returns the number of the first that has no place in it. */
  async bringIn(index: ChainIndex, end: number): Promise<number | null> {
    let taken = 0
    for await (const group of this.entries(index.chain, index.end)) {
      for (const entry of group) {
        if (index !== this.own && entry.seq - index.end > gapMax) return entry.seq
        if (entry.seq < end) index.addEntry(entry)
      }
      taken += group.length
      if (taken < sliceEntries) continue
      taken = 0
      await nextTurn()
    }
    return null
  }

  entries(
    chain: string,
    from: number,
    to?: number,
  ): Iterable<readonly LoggedEntry[]> | AsyncIterable<readonly LoggedEntry[]> {
    const { files, others } = this.#parts
    return chain === this.#parts.chain ? files.entries(from, to) : copiesOf(others, chain, from)
  }

  /** The entry at a place, from the log; none where it is gone, which is for the verification to name. */
  async rowAt({ chain, seq }: Pick<Place, 'chain' | 'seq'>): Promise<AuditRow | null> {
    const entry = await this.#entry(chain, seq)
    if (!entry) return null
    const index = chain === this.#parts.chain ? this.own : this.#others.get(chain)
    return rowOfEntry(entry) ?? (await index?.standIn(entry)) ?? null
  }

  forgetOthers(): void {
    for (const index of this.#others.values()) index.clear()
    this.#others.clear()
  }

  async save(): Promise<void> {
    for (const index of [this.own, ...this.#others.values()]) await index.save()
  }

  #indexOf(chain: string): ChainIndex {
    const entries = (from: number) => this.entries(chain, from)
    const begin = () => startOf(this.#starts, chain).size
    const start = chain === this.#parts.chain ? this.#parts.start : begin
    return new ChainIndex({ chain, files: this.#blocks, entries, start })
  }

  async #open(chain: string): Promise<ChainIndex> {
    const index = this.#indexOf(chain)
    await index.load(async (seq) => (await this.#entry(chain, seq))?.hash ?? null)
    return index
  }

  async #entry(chain: string, seq: number): Promise<LoggedEntry | null> {
    const { files, others } = this.#parts
    if (chain === this.#parts.chain) return files.entry(seq)
    const [copy] = await others.read(chain, seq, 1)
    return copy?.seq === seq ? { ...copy, seal: '' } : null
  }
}

/** How many entries of these chains are asked for. */
export const countIn = async (chains: readonly ChainIndex[], on: Conditions): Promise<number> => {
  let sum = 0
  for (const index of chains) sum += await index.count(on)
  return sum
}

/** Of these chains, newest first by their clocks; within a chain by number. */
export const newestIn = async (
  chains: readonly ChainIndex[],
  on: Conditions,
  limit: number,
  offset: number,
): Promise<readonly Place[]> => {
  const [only, ...more] = chains
  if (only && more.length === 0) return only.newest(on, limit, offset)
  const found: (readonly Place[])[] = []
  for (const index of chains) found.push(await index.newest(on, limit + offset, 0))
  return found
    .flat()
    .toSorted((a, b) => b.time - a.time)
    .slice(offset, offset + limit)
}
