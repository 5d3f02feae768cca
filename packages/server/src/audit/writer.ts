import { type AuditEntry, GatehouseError } from '@gatehouse/contract'
import { createLinker, type Linker, type LogState } from '../domain/audit/chain.ts'
import { bodyOf, entryAt, rowOf, type SealedEntry, sealEntry } from '../domain/audit/entry.ts'
import type { Digests } from '../domain/audit/hashing.ts'
import { createNodeHash, createTree } from '../domain/audit/merkle.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type {
  AppendExtras,
  AuditDraft,
  Commit,
  Journal,
  JournalTransaction,
} from '../ports/audit.ts'
import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { LimitStamp } from '../ports/limits.ts'
import type { Log } from '../ports/log.ts'
import type { RecordPlace, Storage } from '../ports/storage.ts'
import { compareEnd } from './compare-end.ts'
import { hashing } from './hashing.ts'
import type { Keys } from './keys.ts'
import { type Alarm, type Baseline, type MarkFile, type SealedMark, sealMark } from './mark.ts'
import { type SetAside, setAsideFile } from './set-aside.ts'
import { readStoredMark, storedKey } from './stored-mark.ts'
import type { Trail } from './trail.ts'

const groupMax = 64
const queueMax = 65_536
/** After a group of so few, the next one begins at once. */
const lonely = 2

export type WriterParts = {
  readonly storage: Storage
  readonly chain: string
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
  readonly digests: Digests
  readonly keys: Keys
  readonly mark: MarkFile
  readonly setAside: SetAside
  readonly trail: Trail
  /** Called after each commit, off the path of those who wait. */
  readonly onCommit: (commit: Commit) => void
}

/** What a mark says beside the state, and what the writer goes on from. */
export type Standing = {
  readonly state: LogState
  readonly count: number
  readonly epoch: number
  readonly alarm: Alarm | null
  readonly baseline: Baseline | null
  readonly vault: string | null
}

type Recorded = { readonly sealed: SealedEntry; readonly extras: AppendExtras }
type Waiting = Recorded & {
  resolve(entry: AuditEntry): void
  reject(error: Error): void
}
type Committed = { readonly entries: readonly AuditEntry[]; readonly commit: Commit }
type Placed = { readonly rows: readonly AuditRow[]; readonly state: LogState }
/** What a commit comes to: rows in their places, where the log stands then, and what vouches for that. */
type Planned = Placed & { readonly next: Standing; readonly sealed: SealedMark }
type Turn = { run(): Promise<void>; reject(error: Error): void }
type Queued = ({ readonly kind: 'entry' } & Waiting) | ({ readonly kind: 'turn' } & Turn)

const unavailable = (cause: unknown): GatehouseError =>
  new GatehouseError(
    'AuditUnavailable',
    { detail: cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause) },
    { cause },
  )

/**
 * The one writer of a chain. Entries queue; what one turn of the event loop queued is one commit and one
 * mark. Whatever needs the log to itself for a moment takes a turn in the same queue.
 */
export class Writer implements Omit<Journal, 'onCommit'> {
  readonly #parts: WriterParts
  readonly #linker: Linker = createLinker(hashing)
  readonly #node = createNodeHash(hashing)
  readonly #queue: Queued[] = []
  #standing: Standing
  #draining = false
  #lastGroup = 0
  #closed = false
  /** Set after a failure: what the store holds is not known until it has been looked at. */
  #doubt = false
  /** Set after a failure until something has been written again. */
  #failure: GatehouseError | null = null
  /** How many entries the last mark said are in the store. */
  #stored = 0
  /** The last moment that was written out, since many entries come in one. */
  #moment = { ms: Number.NaN, text: '' }

  constructor(parts: WriterParts, standing: Standing) {
    this.#parts = parts
    this.#standing = standing
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Why the log cannot be written at the moment, or null. */
  get failure(): GatehouseError | null {
    return this.#failure
  }

  assertRecordable(draft: AuditDraft): void {
    this.#seal(draft)
  }

  append(draft: AuditDraft, extras: AppendExtras = {}): Promise<AuditEntry> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ kind: 'entry', sealed: this.#seal(draft), extras, resolve, reject })
    })
  }

  /**
   * The work holds the log while it runs: it writes with `tx.append` and must not wait for anything that
   * itself waits for the log.
   */
  transaction<T>(work: (tx: JournalTransaction) => Promise<T>): Promise<T> {
    return this.exclusive(() => this.#runTransaction(work))
  }

  /** Runs when no commit is under way, and lets none begin meanwhile. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ kind: 'turn', run: () => work().then(resolve, reject), reject })
    })
  }

  /** Tries to write again, where the last attempt failed. */
  async probe(): Promise<void> {
    if (!this.#failure) return
    await this.exclusive(async () => {
      await this.#commit([])
    }).catch(() => undefined)
  }

  /** Takes out of the store what nothing sealed covers, after an alarm that names it; whole chains too. */
  takeOut(chains: readonly string[] = []): Promise<void> {
    return this.exclusive(async () => {
      await this.#resync()
      for (const chain of chains) await this.#evict(chain, Number.MIN_SAFE_INTEGER)
    })
  }

  /** Writes down how much the store holds by now, where no commit has done so. The log must be free. */
  noteStored(): void {
    if (!this.#doubt && this.#inStore() > this.#stored) this.settle({})
  }

  /** Keeps something that was found until it is acknowledged, also across a restart; the first stays. */
  raise(alarm: Alarm): void {
    if (this.#standing.alarm) return
    this.#parts.log.error({ alarm, chain: this.#parts.chain }, 'the audit log failed verification')
    try {
      this.settle({ alarm })
    } catch (error) {
      this.#standing = { ...this.#standing, alarm }
      this.#doubts(error)
    }
  }

  /** Changes what the mark says beside the state, and writes it. */
  settle(change: Partial<Omit<Standing, 'state' | 'count'>>): void {
    this.#markAt({ ...this.#standing, ...change })
  }

  /** Refuses what comes, and resolves when what was queued is done. */
  async close(): Promise<void> {
    const quiet = this.exclusive(() => Promise.resolve()).catch(() => undefined)
    this.#closed = true
    await quiet
  }

  #seal(draft: AuditDraft): SealedEntry {
    const { ids, chain, digests } = this.#parts
    return sealEntry(draft, { id: ids.next('aud'), timestamp: this.#time(), chain }, digests)
  }

  #time(): string {
    const ms = this.#parts.clock.wall()
    if (ms !== this.#moment.ms) this.#moment = { ms, text: new Date(ms).toISOString() }
    return this.#moment.text
  }

  #enqueue(item: Queued): void {
    if (this.#closed) throw unavailable('the service is stopping')
    if (this.#queue.length >= queueMax) {
      throw new GatehouseError('Overloaded', {
        detail: `${queueMax} entries wait to be recorded`,
        retry_after_seconds: 1,
        limit: queueMax,
        window: 'at once',
      })
    }
    this.#queue.push(item)
    if (this.#draining) return
    this.#draining = true
    // The check phase comes right after the sockets of a turn have been read: all of them are one group.
    setImmediate(() => void this.#drain())
  }

  /**
   * After a group of many, their callers come back over several turns: as long as each turn brings more,
   * the next group waits for them. A lone caller never waits.
   */
  async #gather(): Promise<void> {
    if (this.#lastGroup <= lonely) return
    for (let seen = 0; seen < this.#queue.length && this.#queue.length < this.#lastGroup; ) {
      seen = this.#queue.length
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather()
      await this.#step()
    }
    this.#draining = false
  }

  async #step(): Promise<void> {
    if (this.#doubt) {
      try {
        await this.#resync()
      } catch (error) {
        this.#doubts(error)
        for (const item of this.#queue.splice(0)) item.reject(unavailable(error))
        return
      }
    }
    const first = this.#queue[0]
    if (first?.kind === 'turn') {
      this.#queue.shift()
      await first.run()
      return
    }
    const group: Waiting[] = []
    for (const item of this.#queue) {
      if (item.kind !== 'entry' || group.length === groupMax) break
      group.push(item)
    }
    this.#queue.splice(0, group.length)
    this.#lastGroup = group.length
    let committed: Committed
    try {
      committed = await this.#commit(group)
    } catch (error) {
      for (const waiting of group) waiting.reject(error as GatehouseError)
      return
    }
    // Outside: nothing that comes now makes their entries undone.
    for (const [i, waiting] of group.entries()) waiting.resolve(committed.entries[i] as AuditEntry)
    this.#parts.onCommit(committed.commit)
  }

  async #commit(group: readonly Waiting[]): Promise<Committed> {
    const { storage } = this.#parts
    const placed = this.#place(group.map((waiting) => waiting.sealed))
    const next = this.#after(placed, vaultOf(group) ?? this.#standing.vault)
    const startedAt = performance.now()
    try {
      if (!this.#keep(group, placed, next)) {
        const planned = this.#plan(placed, next, next.state.size)
        const before = this.#standing
        await storage.commitGroup(this.#groupOf(group, planned))
        this.#advance(planned, before)
      }
    } catch (error) {
      this.#doubts(error)
      throw unavailable(error)
    }
    const commit = { rows: placed.rows, tookMs: performance.now() - startedAt }
    const entries = group.map(({ sealed }, i) => {
      const { seq, hash } = placed.rows[i] as AuditRow
      return entryAt(sealed, seq, hash)
    })
    return { entries, commit }
  }

  /** Where the engine stores later: keeps the group beside its mark. False where it does not, or has no capacity. */
  #keep(group: readonly Waiting[], placed: Placed, next: Standing): boolean {
    const { mark, storage } = this.#parts
    if (!storage.promises) return false
    const stored = this.#inStore()
    const planned = this.#plan(placed, next, stored)
    const keep = (record: Uint8Array, place: RecordPlace): boolean =>
      mark.writeWith(planned.sealed, record, place)
    if (!storage.promises.add(this.#groupOf(group, planned), keep)) return false
    this.#advanced(planned, stored)
    return true
  }

  /** What is stored with the rows: uses of limits, invocations, the clock. */
  #groupOf(recorded: readonly Recorded[], { rows, sealed }: Planned): CommitGroup {
    const agentCounts = new Map<string, number>()
    const sessionCounts = new Map<string, number>()
    const stamps: LimitStamp[] = []
    for (const { sealed, extras } of recorded) {
      if (extras.stamps) stamps.push(...extras.stamps)
      if (!extras.counts) continue
      const { agent, session_id } = sealed.fields
      agentCounts.set(agent, (agentCounts.get(agent) ?? 0) + 1)
      if (session_id) sessionCounts.set(session_id, (sessionCounts.get(session_id) ?? 0) + 1)
    }
    return {
      rows,
      stamps,
      agentCounts,
      sessionCounts,
      clockMs: this.#parts.clock.now(),
      sealed: { key: storedKey(this.#parts.chain), value: sealed.content },
    }
  }

  /** Gives entries their places after the last one, without moving on: only a commit does that. */
  #place(entries: readonly SealedEntry[]): Placed {
    const { state } = this.#standing
    const tree = createTree(hashing, state, this.#node)
    let head = state.head
    const rows = entries.map((sealed) => {
      const seq = tree.size
      const body = bodyOf(sealed, seq)
      head = this.#linker.link(head, seq, body)
      tree.push(this.#linker.leaf())
      return rowOf(sealed, seq, head, body)
    })
    return { rows, state: { size: tree.size, head, peaks: tree.peaks() } }
  }

  // Written out like the mark: a spread for each group was a hundredth of a lone call.
  #after({ state }: Placed, vault: string | null): Standing {
    const { count, epoch, alarm, baseline } = this.#standing
    return { state, count: count + 1, epoch, alarm, baseline, vault }
  }

  #plan({ rows, state }: Placed, next: Standing, stored: number): Planned {
    return { rows, state, next, sealed: this.#sealed(next, stored) }
  }

  /** Writes the mark of what the store holds now. An alarm that was raised meanwhile is kept. */
  #advance(planned: Planned, before: Standing): void {
    const { state, next, sealed } = planned
    const now = this.#standing === before ? next : this.#after({ ...planned, state }, next.vault)
    this.#parts.mark.write(now === next ? sealed : this.#sealed(now, state.size))
    this.#advanced({ ...planned, next: now }, state.size)
  }

  #advanced({ rows, next }: Planned, stored: number): void {
    const { size } = this.#standing.state
    this.#standing = next
    this.#stored = stored
    this.#parts.trail.note(size, rows)
    this.#failure = null
  }

  /** On the disk first, then in memory: an answer never speaks of what the mark does not cover. */
  #markAt(changed: Standing): void {
    const next = { ...changed, count: this.#standing.count + 1 }
    const stored = this.#inStore()
    this.#parts.mark.write(this.#sealed(next, stored))
    this.#standing = next
    this.#stored = stored
  }

  /** Entries before this one are known to be in the store. */
  #inStore(): number {
    return this.#standing.state.size - (this.#parts.storage.promises?.pendingRows ?? 0)
  }

  // Sealed and synced here and now: handing either to another thread took longer than both, measured.
  #sealed({ state, count, epoch, alarm, baseline, vault }: Standing, stored: number): SealedMark {
    const { chain, keys } = this.#parts
    const { head, peaks, size } = state
    const time = this.#time()
    return sealMark(
      { alarm, baseline, chain, count, epoch, head, peaks, size, stored, time, vault },
      keys,
    )
  }

  async #runTransaction<T>(work: (tx: JournalTransaction) => Promise<T>): Promise<T> {
    const { storage } = this.#parts
    const before = this.#standing
    let planned: Planned | null = null
    let refusal: unknown = null
    let result: T
    try {
      result = await storage.transaction(async (tx) => {
        // An engine may run the work again after a conflict: only the last run counts.
        const entries: SealedEntry[] = []
        let open = true
        const waiting: Recorded[] = []
        const append = (draft: AuditDraft, extras: AppendExtras = {}): string => {
          if (!open) throw new Error('the transaction of this entry is over')
          const sealed = this.#seal(draft)
          entries.push(sealed)
          waiting.push({ sealed, extras })
          return sealed.fields.id
        }
        const { auditRows: _rows, storeGroup, ...stores } = tx
        const value = await work({ ...stores, append }).catch((error: unknown) => {
          refusal = error
          throw error
        })
        open = false
        const placed = this.#place(entries)
        const next = this.#after(placed, vaultOf(waiting) ?? this.#standing.vault)
        planned = this.#plan(placed, next, next.state.size)
        if (placed.rows.length > 0) await storeGroup(this.#groupOf(waiting, planned))
        return value
      })
      const done = planned as unknown as Planned
      if (done.rows.length > 0) this.#advance(done, before)
    } catch (error) {
      const storeFailed = error instanceof GatehouseError && error.type === 'StorageUnavailable'
      if (error === refusal && !storeFailed) throw error
      this.#doubts(error)
      throw unavailable(error)
    }
    if (planned !== null) this.#parts.onCommit({ rows: (planned as Planned).rows, tookMs: null })
    return result
  }

  /**
   * Looks at what the store holds, where the outcome of a commit is not known or somebody else wrote. Only what
   * is sealed is taken in; everything else is taken out, after an alarm that names it.
   */
  async #resync(): Promise<void> {
    const { storage, chain, keys } = this.#parts
    // Rows in the place of those that are kept have to go first: until then nothing can be read.
    if (storage.promises?.pendingRows) await this.#evict(chain, this.#inStore())
    await storage.promises?.settle()
    const stored = await readStoredMark(storage.meta, chain, keys)
    const known = stored && stored.size > this.#standing.state.size ? stored : null
    const state = known ?? this.#standing.state
    const alarm = await compareEnd(storage.auditRows, chain, state)
    this.#markAt({
      ...this.#standing,
      state: { size: state.size, head: state.head, peaks: state.peaks },
      vault: known?.vault ?? this.#standing.vault,
    })
    this.#doubt = false
    if (alarm) this.raise(alarm)
    await this.#evict(chain, state.size)
    await this.#evict(chain, Number.MIN_SAFE_INTEGER, 0)
  }

  /** @SECURITY Nothing that no sealed state covers stays in the log; forged-entries.test.ts fails without it. */
  async #evict(chain: string, from: number, to = Number.MAX_SAFE_INTEGER): Promise<void> {
    const { setAside, storage } = this.#parts
    await storage.evictRows(chain, from, to, (rows) => {
      setAside(rows)
      const { seq, id } = rows[0] as AuditRow
      const what = chain === this.#parts.chain ? `from seq ${seq} on` : `in chain ${chain}`
      this.raise({
        kind: 'inserted',
        seq,
        id,
        detail: `entries ${what} are not of this service; they were moved to ${setAsideFile}`,
      })
    })
  }

  #doubts(error: unknown): void {
    this.#doubt = true
    this.#failure = unavailable(error)
    this.#parts.log.error({ err: error }, 'the audit log cannot be written')
  }
}

/** What the last of these entries says of the vault. */
const vaultOf = (recorded: readonly Recorded[]): string | null => {
  for (let i = recorded.length - 1; i >= 0; i -= 1) {
    const vault = recorded[i]?.extras.vault
    if (vault !== undefined) return vault
  }
  return null
}
