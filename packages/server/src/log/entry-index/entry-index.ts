import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatehouseError } from '@gatehouse/contract'
import type { AuditRow, AuditRows, CallFigures, FigureRange } from '../../ports/audit-rows.ts'
import { rowOfEntry } from '../read-groups.ts'
import { Chains, countIn, type IndexParts, newestIn, type Unlisted } from './chains.ts'
import { type Conditions, everything, toConditions, writeEnds } from './conditions.ts'
import { FigureCounter } from './figures.ts'
import { statsOf } from './stats.ts'

/** Entries whose columns are read between two turns of the event loop: a millisecond or less. */
const sliceEntries = 16_384

type Page = {
  readonly rows: readonly AuditRow[]
  readonly total: number
  readonly as_of: string
}

/**
 * Finds entries: columns tell which ones a query means, and what is shown comes from the log. Made from the log, and
 * made anew at will.
 */
export class EntryIndex implements AuditRows {
  readonly #chains: Chains
  /** The figures that were asked for last: of several that are, one goes through the log at a time. */
  #figures: Promise<unknown> = Promise.resolve()

  private constructor(chains: Chains) {
    this.#chains = chains
  }

  /** Opens what was kept of it; `catchUp` brings in the rest. */
  static async open(parts: IndexParts): Promise<EntryIndex> {
    const chains = new Chains(parts)
    await chains.load()
    return new EntryIndex(chains)
  }

  /** Takes rows that were appended to the log just now. Never throws. */
  add(rows: readonly AuditRow[]): void {
    for (const row of rows) this.#chains.own.add(row)
  }

  /** Brings in what the log has before an entry, and the index does not. */
  async catchUp(end: number): Promise<void> {
    await this.#chains.bringIn(this.#chains.own, end)
  }

  /** Makes everything anew from the log. */
  async rebuild(end: number): Promise<void> {
    this.forgetOthers()
    this.#chains.own.clear()
    await this.catchUp(end)
  }

  /** Forgets the entries of this node that retention removed. */
  removeBefore(start: number): Promise<void> {
    return this.#chains.own.removeBefore(start)
  }

  /** How many chains of other processes there were when they were last looked at, as each query does. */
  get othersSeen(): number {
    return this.#chains.othersSeen
  }

  /** Entries of those that are not listed. */
  get unlisted(): readonly Unlisted[] {
    return this.#chains.unlisted
  }

  /** Numbers of entries that are intents without an outcome so far. */
  get openSeqs(): readonly number[] {
    return this.#chains.own.openIntents.map(([, seq]) => seq)
  }

  /** Forgets the chains of other nodes: their copies were changed. */
  forgetOthers(): void {
    this.#chains.forgetOthers()
  }

  /** Keeps what is in memory for the next start. */
  save(): Promise<void> {
    return this.#chains.save()
  }

  async find(id: string): Promise<AuditRow | null> {
    for (const index of await this.#chains.all())
      for await (const seq of index.withId(id)) {
        const row = await this.#chains.rowAt({ chain: index.chain, seq })
        if (row?.id === id) return row
      }
    return null
  }

  async query(filter: Parameters<AuditRows['query']>[0]): Promise<Page> {
    return this.#page(toConditions(filter), filter.limit, filter.offset)
  }

  activity({ agent, limit, offset }: Parameters<AuditRows['activity']>[0]): Promise<Page> {
    return this.#page({ ...everything, agent: agent ?? null, events: true }, limit, offset)
  }

  async range(chain: string, from: number, to: number, limit: number): Promise<AuditRow[]> {
    if (to - from === 1) {
      const row = await this.#chains.rowAt({ chain, seq: from })
      return row ? [row] : []
    }
    const rows: AuditRow[] = []
    for await (const group of this.#chains.entries(chain, from, to))
      for (const entry of group) {
        if (entry.seq >= to || rows.length === limit) return rows
        const row = rowOfEntry(entry)
        if (row) rows.push(row)
      }
    return rows
  }

  async ends(): ReturnType<AuditRows['ends']> {
    const { own } = this.#chains
    const ends = [...(await this.#chains.refresh())]
    if (own.end > 0) ends.push({ chain: own.chain, next: own.end })
    return ends.toSorted((a, b) => (a.chain < b.chain ? -1 : 1))
  }

  /** The newest entries of this node by a name, newest first; those of others are left alone. */
  async newestOwn(capability: string, limit: number): Promise<AuditRow[]> {
    const { own } = this.#chains
    const on = toConditions({ capability })
    const places = await own.newest(on, limit, 0)
    const rows = await Promise.all(places.map((place) => this.#chains.rowAt(place)))
    return rows.filter((row) => row !== null)
  }

  async openIntents(limit: number): Promise<AuditRow[]> {
    const { own } = this.#chains
    const rows: AuditRow[] = []
    for (const [id, seq] of own.openIntents.slice(0, limit)) {
      const row = await this.#chains.rowAt({ chain: own.chain, seq })
      if (row?.id === id) rows.push(row)
    }
    return rows
  }

  async counts(sinceMs: number): ReturnType<AuditRows['counts']> {
    const chains = await this.#chains.all()
    const calls = { ...everything, kind: 'call', since: sinceMs }
    const ran = await countIn(chains, { ...calls, result: 'success' })
    return {
      calls: ran + (await countIn(chains, { ...calls, result: 'error' })),
      denied: await countIn(chains, { ...calls, result: 'denied' }),
      entries: await countIn(chains, everything),
    }
  }

  async statsOf(agent: string): ReturnType<AuditRows['statsOf']> {
    return statsOf(await this.#chains.all(), agent)
  }

  figures(range: FigureRange, signal: AbortSignal): Promise<CallFigures> {
    const made = this.#figures.then(() => this.#addUp(range, signal))
    this.#figures = made.catch(() => undefined)
    return made
  }

  async #addUp(range: FigureRange, signal: AbortSignal): Promise<CallFigures> {
    const figures = new FigureCounter(range)
    const { agent, fromMs: since, toMs: until } = range
    const on = { ...everything, agent, since, until }
    for (const chain of await this.#chains.all())
      for await (const { block, count } of chain.blocks(on))
        for (const _ of figures.take(block, count, sliceEntries)) {
          await nextTurn()
          if (signal.aborted) throw new GatehouseError('Cancelled')
        }
    return figures.done()
  }

  async #page(asked: Conditions, limit: number, offset: number): Promise<Page> {
    const chains = await this.#chains.all()
    // Entries that are added while this one counts are in neither number nor rows.
    const ends = asked.ends ?? new Map(chains.map(({ chain, end }) => [chain, end]))
    const on = { ...asked, ends }
    const as_of = writeEnds(ends)
    const total = await countIn(chains, on)
    if (offset >= total) return { rows: [], total, as_of }
    const rows: AuditRow[] = []
    for (const place of await newestIn(chains, on, limit, offset)) {
      const row = await this.#chains.rowAt(place)
      if (row) rows.push(row)
    }
    return { rows, total, as_of }
  }
}
