import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type AuditEntry, GatehouseError } from '@gatehouse/contract'
import { createLinker, type Linker, type LogState } from '../domain/audit/chain.ts'
import { bodyOf, entryAt, rowOf, type SealedEntry, sealEntry } from '../domain/audit/entry.ts'
import type { Digests } from '../domain/audit/hashing.ts'
import { createNodeHash, createTree, rootOf } from '../domain/audit/merkle.ts'
import { gather } from '../domain/gather.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type {
  AppendExtras,
  AuditDraft,
  AuditLog,
  AuditTransaction,
  Commit,
} from '../ports/audit.ts'
import type { AuditRow, CommitGroup } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { LimitStamp } from '../ports/limits.ts'
import type { Log } from '../ports/log.ts'
import type { Storage } from '../ports/storage.ts'
import { encodeFrame, type GroupNote, lineOf, noteText } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Keys } from './keys.ts'
import type { LogFiles } from './log-files.ts'
import { inserted, moveOut, moveResidue } from './move-out.ts'
import { pendingKey, readPending } from './pending-group.ts'
import type { Recorder } from './recorder.ts'
import { groupMac, isGenuine } from './seal-group.ts'
import type { SegmentHeader } from './segment.ts'
import type { SetAside } from './set-aside.ts'
import type { Alarm, Baseline, HeadFile, SignedHead } from './signed-head.ts'

const groupMax = 64
const queueMax = 65_536

export type WriterParts = {
  readonly storage: Storage
  readonly chain: string
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
  readonly digests: Digests
  readonly keys: Keys
  readonly files: LogFiles
  readonly head: HeadFile
  readonly setAside: SetAside
  /** Brings index and store up to this entry, the end of the log. */
  readonly catchUp: (end: number) => Promise<void>
  readonly recorder: Pick<Recorder, 'record'>
  /** Takes entries that were appended into the index. */
  readonly index: (rows: readonly AuditRow[]) => void
  /** Called after each commit, off the path of those who wait. */
  readonly onCommit: (commit: Commit) => void
}

/** State from which the writer goes on, with what the signed head says beside it. */
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
/** Where the log stands after a group; a null vault is as it was before. */
type Advance = Pick<Standing, 'state' | 'vault'>
/** Entries in their places, where the log stands with them, and the frame that brings both to the disk. */
type Placed = {
  readonly rows: readonly AuditRow[]
  readonly next: Advance
  readonly frame: Buffer
  readonly group: CommitGroup
}
type Turn = { run(): Promise<void>; reject(error: Error): void }
type Queued = ({ readonly kind: 'entry' } & Waiting) | ({ readonly kind: 'turn' } & Turn)

const unavailable = (cause: unknown): GatehouseError =>
  new GatehouseError(
    'AuditUnavailable',
    { detail: cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause) },
    { cause },
  )

/**
 * The one writer of a chain. Entries queue; what one turn of the event loop queued is one group, appended and
 * synced at once. Whatever needs the log to itself for a moment takes a turn in the same queue.
 */
export class Writer implements Omit<AuditLog, 'onCommit'> {
  readonly #parts: WriterParts
  readonly #linker: Linker = createLinker(hashing)
  readonly #node = createNodeHash(hashing)
  readonly #queue: Queued[] = []
  #standing: Standing
  #draining = false
  #lastGroup = 0
  #closed = false
  /** Set after a failure: what files and store have is not known until they have been looked at. */
  #doubt = false
  /** Set after a failure until something has been written again. */
  #failure: GatehouseError | null = null
  /** Something that was found while another alarm stood. */
  #foundBeside: Alarm | null = null
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
  transaction<T>(work: (tx: AuditTransaction) => Promise<T>): Promise<T> {
    return this.exclusive(() => this.#runTransaction(work))
  }

  /** Runs when no commit is under way, and lets none begin meanwhile. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ kind: 'turn', run: () => work().then(resolve, reject), reject })
    })
  }

  /**
   * Takes out of the log what lies behind its end: what was written and not synced, so that nobody was answered for
   * it, and what somebody else put there, after an alarm that names it. Must be called in the turn in which the files were read
   * anew, and may be at any time: between two turns nothing of ours lies behind the end, unless a write of it failed.
   * @SECURITY Nothing that this service did not seal stays in the log; forged-entries.test.ts fails without it.
   */
  evict(): void {
    // Another process may have the log by now.
    if (this.#closed && !this.#draining) return
    try {
      this.#evict()
    } catch (error) {
      this.#doubts(error)
    }
  }

  #evict(): void {
    const { files, chain, keys, setAside } = this.#parts
    const { size } = this.#standing.state
    moveResidue(this.#parts)
    if (files.end <= size) return
    const isOurs = [...files.frames(size)].every((frame) => isGenuine(keys, chain, frame))
    if (isOurs) files.cut(size)
    else moveOut({ files, setAside }, size, (place) => this.raise(inserted(place)))
  }

  /**
   * Writes the head that this start goes on from, and with it what the start found. @SECURITY Both at once: a head
   * without the finding would say that all is well; start.test.ts.
   */
  begin(found: Alarm | null): void {
    const { alarm } = this.#standing
    if (!alarm && found) this.#tell(found)
    this.change({ alarm: alarm ?? found })
  }

  /** Looks at files and store before the first entry; the signed head is on the disk already. */
  open(start: (end: number) => Promise<void>): Promise<void> {
    return this.#goOn(start)
  }

  /** Tries to write again, where the last attempt failed. */
  async probe(): Promise<void> {
    if (!this.#failure) return
    const retry = async (): Promise<void> => {
      await this.#resync()
      this.#parts.files.assertRoom(this.#standing.state.size, this.#header)
    }
    await this.exclusive(retry).catch((error: unknown) => {
      if (!this.#closed) this.#doubts(error)
    })
  }

  /** Tells what is found from now on beside an alarm that stands, the first of it; null where nothing is. */
  findings(): () => Alarm | null {
    this.#foundBeside = null
    return () => this.#foundBeside
  }

  /** Keeps something that was found until it is acknowledged, also across a restart; the first stays. */
  raise(alarm: Alarm): void {
    const { alarm: standing } = this.#standing
    if (standing) {
      if (!isDeepStrictEqual(alarm, standing)) this.#foundBeside ??= alarm
      return
    }
    this.#tell(alarm)
    try {
      this.change({ alarm })
    } catch (error) {
      this.#standing = { ...this.#standing, alarm }
      this.#doubts(error)
    }
  }

  #tell(alarm: Alarm): void {
    this.#parts.log.error({ alarm, chain: this.#parts.chain }, 'the audit log failed verification')
  }

  /** Changes what the signed head says beside the state. On the disk first, then in memory. */
  change(change: Partial<Omit<Standing, 'state' | 'count'>>): void {
    const next = { ...this.#standing, ...change, count: this.#standing.count + 1 }
    this.#parts.head.writeSynced(this.#headOf(next))
    this.#standing = next
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

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await gather(this.#lastGroup, () => this.#queue.length, nextTurn)
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
    const startedAt = performance.now()
    const placed = this.#place(group)
    try {
      this.#append(placed)
      const recording = this.#parts.recorder.record(placed.group)
      if (recording) await recording
    } catch (error) {
      this.#doubts(error)
      throw unavailable(error)
    }
    const { rows } = placed
    const commit = { rows, tookMs: performance.now() - startedAt }
    const entries = group.map(({ sealed }, i) => {
      const { seq, hash } = rows[i] as AuditRow
      return entryAt(sealed, seq, hash)
    })
    return { entries, commit }
  }

  /** Gives entries their places after the last one, without moving on: only an append does that. */
  #place(recorded: readonly Recorded[]): Placed {
    const { chain, keys } = this.#parts
    const { state } = this.#standing
    const tree = createTree(hashing, state, this.#node)
    let { head } = state
    let text = ''
    const rows: AuditRow[] = []
    for (const { sealed } of recorded) {
      const seq = tree.size
      const body = bodyOf(sealed, seq)
      head = this.#linker.link(head, seq, body)
      tree.push(this.#linker.leaf())
      text += lineOf(head, keys.seal(head), body)
      rows.push(rowOf(sealed, seq, head, body))
    }
    const group = this.#groupOf(recorded, rows)
    const vault = vaultOf(recorded)
    const note = noteText(noteOf(group, vault))
    const mac = groupMac(keys, { chain, size: tree.size, head, note })
    const frame = encodeFrame(state.size, rows.length, note + text, mac)
    const next = { state: { size: tree.size, head, peaks: tree.peaks() }, vault }
    return { rows, next, frame, group }
  }

  /** Durable when this returns: the log first, since a head never speaks of what it does not cover. */
  #append({ rows, next, frame }: Placed): void {
    this.#appendFrame(frame, rows.length)
    this.#advance(next)
    this.#parts.index(rows)
  }

  #appendFrame(frame: Buffer, count: number): void {
    const first = this.#standing.state.size
    this.#parts.files.append(frame, { first, count }, this.#header)
  }

  /** Header of a segment that begins now: the state of the log before it. */
  readonly #header = (): SegmentHeader => {
    const { size, head, peaks } = this.#standing.state
    const root = rootOf(hashing, peaks)
    return { format: 'gatehouse-log-v1', chain: this.#parts.chain, first: size, head, root }
  }

  /**
   * @SECURITY With the alarm of now, not of when the entries got their places: one that was raised while the store committed
   * would be lost here for good; integrity.test.ts.
   */
  #advance({ state, vault }: Advance): void {
    const { count, epoch, alarm, baseline, vault: before } = this.#standing
    // Written out: a spread for each group was a hundredth of a lone call.
    const next = { state, count: count + 1, epoch, alarm, baseline, vault: vault ?? before }
    this.#parts.head.write(this.#headOf(next))
    this.#standing = next
    this.#failure = null
  }

  /** Consequences of the entries: uses of limits, invocations, the clock. */
  #groupOf(recorded: readonly Recorded[], rows: readonly AuditRow[]): CommitGroup {
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
    const { chain, clock } = this.#parts
    return { chain, rows, stamps, agentCounts, sessionCounts, clockMs: clock.now() }
  }

  #headOf({ state, count, epoch, alarm, baseline, vault }: Standing): SignedHead {
    const { head, peaks, size } = state
    const { chain } = this.#parts
    return { alarm, baseline, chain, count, epoch, head, peaks, size, time: this.#time(), vault }
  }

  /**
   * The store commits first, with the group's frame in it; then the frame goes to the log. Whoever is killed in
   * between finds it there: both happened, or neither.
   */
  async #runTransaction<T>(work: (tx: AuditTransaction) => Promise<T>): Promise<T> {
    const { storage, chain } = this.#parts
    let placed: Placed | null = null
    let refusal: unknown = null
    let result: T
    try {
      result = await storage.transaction(async (tx) => {
        // An engine may run the work again after a conflict: only the last run counts.
        placed = null
        let open = true
        const recorded: Recorded[] = []
        const append = (draft: AuditDraft, extras: AppendExtras = {}): string => {
          if (!open) throw new Error('the transaction of this entry is over')
          const sealed = this.#seal(draft)
          recorded.push({ sealed, extras })
          return sealed.fields.id
        }
        const value = await work({ ...tx, append }).catch((error: unknown) => {
          refusal = error
          throw error
        })
        open = false
        if (recorded.length > 0) {
          placed = this.#place(recorded)
          await tx.meta.set(pendingKey(chain), (placed as Placed).frame.toString('base64'))
        }
        return value
      })
      const done = placed as Placed | null
      if (done) {
        this.#assertSound()
        this.#append(done)
        await this.#parts.recorder.record(done.group)
      }
    } catch (error) {
      const storeFailed = error instanceof GatehouseError && error.type === 'StorageUnavailable'
      if (error === refusal && !storeFailed) throw error
      this.#doubts(error)
      throw unavailable(error)
    }
    const rows = (placed as Placed | null)?.rows ?? []
    this.#parts.onCommit({ rows, tookMs: null })
    return result
  }

  /** Goes on after a failure, from where the last frame that was synced ends. */
  async #resync(): Promise<void> {
    // Before the work: what a look finds during it is a doubt again. Where the work fails, so is that.
    this.#doubt = false
    this.#parts.files.reload()
    await this.#goOn(this.#parts.catchUp)
    this.#parts.head.writeSynced(this.#headOf(this.#standing))
    this.#assertSound()
    this.#failure = null
  }

  /**
   * Raises why the files are in doubt, after a wait in which they may have been looked at. @SECURITY Nothing is written behind
   * what somebody else put there and could not be taken out: it would stay in the log; integrity.test.ts.
   */
  #assertSound(): void {
    if (this.#doubt) throw this.#failure ?? unavailable('its files have to be looked at first')
  }

  /** With a group that the store committed and the log did not get, and with an index that has all of it. */
  async #goOn(catchUp: (end: number) => Promise<void>): Promise<void> {
    const { storage, chain, keys } = this.#parts
    this.#evict()
    const pending = await readPending(storage.meta, chain, keys, this.#standing.state)
    if (pending) {
      this.#assertSound()
      const { frame, state, vault } = pending
      this.#appendFrame(frame, state.size - this.#standing.state.size)
      this.#advance({ state, vault })
    }
    await catchUp(this.#standing.state.size)
  }

  #doubts(error: unknown): void {
    this.#doubt = true
    this.#failure = unavailable(error)
    this.#parts.log.error({ err: error }, 'the audit log cannot be written')
  }
}

/** State of the vault after the last of these entries. */
const vaultOf = (recorded: readonly Recorded[]): string | null => {
  for (let i = recorded.length - 1; i >= 0; i -= 1) {
    const vault = recorded[i]?.extras.vault
    if (vault !== undefined) return vault
  }
  return null
}

const noteOf = (group: CommitGroup, vault: string | null): GroupNote => ({
  stamps: group.stamps,
  agents: [...group.agentCounts],
  sessions: [...group.sessionCounts],
  clockMs: group.clockMs,
  vault,
})
