import type { AuditRow } from '../../ports/audit-rows.ts'
import type { LoggedEntry } from '../frame.ts'
import { rowOfEntry } from '../read-groups.ts'
import { Block, blockEntries, hashId, sumOf, type Tally } from './block.ts'
import type { BlockFiles, BlockSummary } from './block-files.ts'
import type { Conditions } from './conditions.ts'
import { timeOfId } from './id-time.ts'

/** Where an entry stands. `time` in milliseconds. */
export type Place = { readonly chain: string; readonly seq: number; readonly time: number }

/** Columns of so many blocks stay in memory once somebody asked for them. */
const loadedMax = 16

/** How far the clock of ids and that of entries may be apart. */
const slackMs = 60_000

type Parts = {
  readonly chain: string
  readonly files: BlockFiles
  /** The number of the first entry that is left. */
  readonly start: () => number
  /** The entries of the chain from a number on, in their order. */
  readonly entries: (
    from: number,
  ) => Iterable<readonly LoggedEntry[]> | AsyncIterable<readonly LoggedEntry[]>
}

/** The index of one chain: blocks that are full, on the disk, and the one that entries are added to. */
export class ChainIndex {
  readonly #parts: Parts
  #full: BlockSummary[] = []
  #last: Block
  /** The hash of the last entry. */
  #head = ''
  #open = new Map<string, number>()
  readonly #loaded = new Map<number, Block>()
  /** Full blocks that are not on the disk, or not yet. */
  readonly #unsaved = new Map<number, Block>()
  #written: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#last = new Block(this.#firstBlock())
  }

  get chain(): string {
    return this.#parts.chain
  }

  /** The number of the next entry. */
  get end(): number {
    return this.#last.first + this.#last.count
  }

  /** Ids and numbers of intents that nothing has closed, oldest first. */
  get openIntents(): readonly (readonly [id: string, seq: number])[] {
    return [...this.#open]
  }

  /** Takes what the disk has, as far as it fits the log. `hashAt` gives the hash of an entry of the log. */
  async load(hashAt: (seq: number) => Promise<string | null> | string | null): Promise<void> {
    const { chain, files } = this.#parts
    files.drop(chain, 0, this.#firstBlock())
    for (const summary of files.list(chain)) {
      const { first, count, head } = summary
      const follows = first === this.end && (await hashAt(first + count - 1)) === head
      if (!follows || this.#last.count > 0) break
      if (count === blockEntries) this.#goOn(summary)
      else {
        const columns = files.columns(summary)
        if (!columns) break
        this.#last = Block.decode(first, columns)
      }
      this.#head = head
      this.#open = new Map(summary.open)
    }
    // Blocks that come later belong to another log.
    const { first, count } = this.#last
    files.drop(chain, count > 0 ? first + 1 : first)
    await this.removeBefore(this.#parts.start())
  }

  /** Forgets the entries before this one, which retention removed. */
  async removeBefore(start: number): Promise<void> {
    const gone = this.#full.filter(({ first, count }) => first + count <= start)
    this.#full = this.#full.slice(gone.length)
    for (const { first } of gone) {
      this.#loaded.delete(first)
      this.#unsaved.delete(first)
    }
    this.#parts.files.drop(this.chain, 0, this.#firstBlock())
    const [oldest] = this.#full
    if (oldest && oldest.first < start) await this.#trim(oldest, start)
    else if (!oldest) {
      if (this.#last.first + this.#last.count <= this.#firstBlock())
        this.#last = new Block(this.#firstBlock())
      this.#last.forgetFirst(Math.max(0, start - this.#last.first))
      this.#fill(start)
    }
  }

  /** Takes the next entry. Numbers before it that the log lacks keep their place. */
  add(row: AuditRow): void {
    this.#fill(row.seq)
    if (row.seq < this.end) return
    this.#last.add(row)
    this.#note(row)
    this.#head = row.hash
    if (this.#last.isFull) this.#seal()
  }

  /** The same for an entry as the log has it, which damage may have made unreadable. */
  addEntry(entry: LoggedEntry): void {
    const row = rowOfEntry(entry)
    if (row) return this.add(row)
    this.#fill(entry.seq + 1)
    this.#head = entry.hash
  }

  /** Keeps the block that is not full for the next start. */
  async save(): Promise<void> {
    if (this.#last.count > 0) await this.#write(this.#summaryOf(this.#last), this.#last)
    else await this.#written
  }

  clear(): void {
    this.#parts.files.drop(this.#parts.chain)
    this.#full = []
    this.#last = new Block(this.#firstBlock())
    this.#fill(this.#parts.start())
    this.#head = ''
    this.#open = new Map()
    this.#loaded.clear()
    this.#unsaved.clear()
  }

  async count(on: Conditions): Promise<number> {
    let count = this.#last.countOf(on, endIn(this.chain, on))
    for (const summary of this.#full) count += await this.#countIn(summary, on)
    return count
  }

  /** The newest entries that are asked for, without the first `offset` of them. */
  async newest(on: Conditions, limit: number, offset: number): Promise<Place[]> {
    const found: Place[] = []
    if (limit === 0) return found
    let skip = offset
    const take = (block: Block): void =>
      block.visit(on, endIn(this.chain, on), (i) => {
        if (skip > 0) skip -= 1
        else found.push({ chain: this.chain, seq: block.first + i, time: block.time(i) })
        return found.length < limit ? 'on' : 'stop'
      })
    take(this.#last)
    for (const summary of this.#full.toReversed()) {
      if (found.length >= limit) break
      const count = knownCount(summary, on)
      if (count !== null && count <= skip) skip -= count
      else take(await this.#columns(summary))
    }
    return found
  }

  /** The numbers of entries that may have this id, where it is likely first. */
  async *withId(id: string): AsyncGenerator<number> {
    const hash = hashId(id)
    yield* this.#last.withId(hash)
    const time = timeOfId(id)
    const isLikely = ({ from, to }: BlockSummary) => from - slackMs <= time && time <= to + slackMs
    const blocks = this.#full.toReversed()
    for (const summary of [...blocks.filter(isLikely), ...blocks.filter((b) => !isLikely(b))])
      yield* (await this.#columns(summary)).withId(hash)
  }

  /** Counts of the asked entries, by day, agent and so on; with moments or a session entry by entry. */
  async *tallies(on: Conditions): AsyncGenerator<Tally> {
    yield* this.#last.counted(on)
    for (const summary of this.#full) {
      if (knownCount(summary, on) === 0) continue
      if (summary.tallies) yield* summary.tallies
      else yield* (await this.#columns(summary)).counted(on)
    }
  }

  /** Blocks in which entries that are asked for may be, oldest first, with as many entries as they have now. */
  async *blocks(on: Conditions): AsyncGenerator<{ readonly block: Block; readonly count: number }> {
    const last = { block: this.#last, count: this.#last.count }
    for (const summary of [...this.#full])
      if (knownCount(summary, on) !== 0)
        yield { block: await this.#columns(summary), count: summary.count }
    yield last
  }

  /** The newest durations of calls, each with its moment. */
  async durations(on: Conditions, limit: number): Promise<{ time: number; ms: number }[]> {
    const found: { time: number; ms: number }[] = []
    const places = await this.newest(on, limit, 0)
    for (const { seq, time } of places) {
      const block = await this.#blockOf(seq)
      found.push({ time, ms: block.duration(seq - block.first) })
    }
    return found
  }

  /** Stand-in for an entry whose text damage made unreadable since it was indexed. */
  async standIn({ seq, hash, body }: LoggedEntry): Promise<AuditRow> {
    const block = await this.#blockOf(seq)
    const i = seq - block.first
    const { decision, session, ...counted } = block.fields(i)
    return {
      ...counted,
      chain: this.#parts.chain,
      seq,
      hash,
      body,
      id: `aud-unreadable-${seq}`,
      timestamp: new Date(block.time(i)).toISOString(),
      policy_decision: decision,
      session_id: session === '' ? null : session,
      duration_ms: null,
      intent_id: null,
      approval_id: null,
      detail: null,
    }
  }

  /** The number with which the block of the first entry begins. */
  #firstBlock(): number {
    return Math.floor(this.#parts.start() / blockEntries) * blockEntries
  }

  /** Takes the entries before `start` out of a full block. */
  async #trim(summary: BlockSummary, start: number): Promise<void> {
    const block = await this.#columns(summary)
    if (!block.forgetFirst(start - summary.first)) return
    const left = { ...summary, ...block.span(), tallies: block.tallies() }
    this.#full = this.#full.map((known) => (known === summary ? left : known))
    await this.#write(left, block)
  }

  #fill(until: number): void {
    while (this.end < until) {
      this.#last.addUnreadable()
      if (this.#last.isFull) this.#seal()
    }
  }

  #note({ id, seq, kind, result, approval_id, intent_id }: AuditRow): void {
    if (kind === 'call' && result === 'pending' && approval_id === null) this.#open.set(id, seq)
    if (intent_id !== null) this.#open.delete(intent_id)
  }

  #seal(): void {
    const block = this.#last
    const summary = this.#summaryOf(block)
    this.#written = this.#write(summary, block)
    this.#goOn(summary)
  }

  #goOn(summary: BlockSummary): void {
    this.#full.push(summary)
    this.#last = new Block(summary.first + summary.count)
  }

  #summaryOf(block: Block): BlockSummary {
    const { chain } = this.#parts
    const { first, count } = block
    const open = [...this.#open]
    const tallies = block.tallies()
    return { chain, first, count, head: this.#head, ...block.span(), tallies, open }
  }

  /** Keeps a block in memory until it is on the disk. Never rejects. */
  async #write(summary: BlockSummary, block: Block): Promise<void> {
    const { first } = summary
    this.#unsaved.set(first, block)
    const isWanted = (): boolean => this.#unsaved.get(first) === block
    try {
      await this.#parts.files.write(summary, block.encode(), isWanted)
    } catch {
      // A full disk: the entries are in the log, and the next start makes this block anew.
      return
    }
    if (isWanted()) this.#unsaved.delete(first)
  }

  async #countIn(summary: BlockSummary, on: Conditions): Promise<number> {
    const known = knownCount(summary, on)
    return known ?? (await this.#columns(summary)).countOf(on, endIn(this.chain, on))
  }

  async #blockOf(seq: number): Promise<Block> {
    if (seq >= this.#last.first) return this.#last
    const before = (this.#full[0]?.first ?? 0) / blockEntries
    return this.#columns(this.#full[Math.floor(seq / blockEntries) - before] as BlockSummary)
  }

  /** The columns of a full block, from the disk or, where somebody changed them there, from the log. */
  async #columns(summary: BlockSummary): Promise<Block> {
    const { first } = summary
    const unsaved = this.#unsaved.get(first)
    if (unsaved) return unsaved
    const known = this.#loaded.get(first)
    if (known) {
      this.#loaded.delete(first)
      this.#loaded.set(first, known)
      return known
    }
    const columns = this.#parts.files.columns(summary)
    const block = columns ? Block.decode(first, columns) : await this.#rebuilt(summary)
    this.#loaded.set(first, block)
    const [oldest] = this.#loaded.keys()
    if (this.#loaded.size > loadedMax && oldest !== undefined) this.#loaded.delete(oldest)
    return block
  }

  async #rebuilt(summary: BlockSummary): Promise<Block> {
    const block = new Block(summary.first)
    const next = () => block.first + block.count
    for await (const group of this.#parts.entries(summary.first)) {
      for (const entry of group) {
        while (!block.isFull && next() < entry.seq) block.addUnreadable()
        if (block.isFull) return block
        if (next() === entry.seq) addTo(block, entry)
      }
      if (block.isFull) break
    }
    while (!block.isFull) block.addUnreadable()
    return block
  }
}

const addTo = (block: Block, entry: LoggedEntry): void => {
  const row = rowOfEntry(entry)
  if (row) block.add(row)
  else block.addUnreadable()
}

/** The first number of a chain that is too new. */
const endIn = (chain: string, { ends }: Conditions): number =>
  ends === null ? Number.POSITIVE_INFINITY : (ends.get(chain) ?? 0)

/** How many entries of a block are asked for, where that can be told without its columns. */
const knownCount = (summary: BlockSummary, on: Conditions): number | null => {
  const { chain, first, count, from, to, tallies } = summary
  const end = endIn(chain, on)
  if (to < on.since || from >= on.until || first >= end) return 0
  if (tallies === null) return null
  const sum = sumOf(tallies, on)
  if (sum === 0) return 0
  const isInside = from >= on.since && to < on.until && first + count <= end
  return on.session === null && isInside ? sum : null
}
