import { GatehouseError } from '@gatehouse/contract'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import type { GroupPromises, RecordPlace } from '../../ports/storage.ts'
import type { FifoMutex } from '../mutex.ts'
import { foldsAt } from '../sql/audit-daily.ts'

/** A lone caller waits for the disk that the other thread writes to, so that one waits for more to come. */
const settleAfterMs = 250
/** A commit of the other thread costs this one something too, so that they are few under load. */
const settleRows = 4_096
/** While somebody reads what is stored, he waits for less at a time. */
const settleRowsForReaders = 512
const readsLastMs = 1_000
const againAfterMs = 1_000

/** Between the line about a group and the rows, and between rows; a row is its hash in hex, then its body. */
export const separator = '\n'
export const hashLength = 64

/**
 * A group as text: a line about the group, then hash and body of each row. Columns are not kept: they are
 * copies of what the body says.
 */
const groupText = ({ rows, stamps, agentCounts, sessionCounts, clockMs }: CommitGroup) => {
  let text = JSON.stringify([stamps, [...agentCounts], [...sessionCounts], clockMs])
  for (const row of rows) text += separator + row.hash + row.body
  return text
}

/** The group that a text stands for. */
const groupOfText = (text: string): CommitGroup => {
  const [about = '', ...lines] = text.split(separator)
  const [stamps, agents, sessions, clockMs] = JSON.parse(about) as [
    CommitGroup['stamps'],
    [string, number][],
    [string, number][],
    number,
  ]
  const rows = lines.map((line): AuditRow => {
    const body = line.slice(hashLength)
    return { ...(JSON.parse(body) as AuditRow), hash: line.slice(0, hashLength), body }
  })
  return {
    rows,
    stamps,
    agentCounts: new Map(agents),
    sessionCounts: new Map(sessions),
    clockMs,
  }
}

const firstSeq = (group: CommitGroup): number => group.rows[0]?.seq ?? -1

/** The groups of these texts in the order they were made. */
export const groupsOfTexts = (texts: readonly string[]): CommitGroup[] =>
  texts.map(groupOfText).sort((a, b) => firstSeq(a) - firstSeq(b))

/** Where a record begins, and how many bytes it has. */
export type RecordRange = readonly [at: number, length: number]

/** Several groups as one: what they cost beside their rows is paid once. */
export type KeptGroups = Omit<CommitGroup, 'rows' | 'sealed'> & {
  /** Of the last group. */
  readonly sealed: CommitGroup['sealed'] | undefined
  /** The records of the groups, in their order. */
  readonly shared: SharedArrayBuffer
  readonly places: readonly RecordRange[]
  /** Only those after which something is counted together. */
  readonly rows: readonly Pick<AuditRow, 'chain' | 'seq'>[]
}

/** As much as the file of the mark has for one half. What that puts before each record it counts itself. */
const roomBytes = 4 * 1024 * 1024

/** What one half holds: its records as bytes that a thread can read, and what goes with their rows, added up. */
class Half implements KeptGroups {
  readonly shared = new SharedArrayBuffer(roomBytes)
  readonly #bytes = Buffer.from(this.shared)
  #end = 0
  places: RecordRange[] = []
  rowCount = 0
  rows: Pick<AuditRow, 'chain' | 'seq'>[] = []
  stamps: CommitGroup['stamps'][number][] = []
  agentCounts = new Map<string, number>()
  sessionCounts = new Map<string, number>()
  clockMs = 0
  sealed: NonNullable<CommitGroup['sealed']> | undefined

  get isEmpty(): boolean {
    return this.places.length === 0
  }

  /** The text as bytes behind those that are held, not held themselves yet; null where there is no room. */
  write(text: string): Buffer | null {
    const room = roomBytes - this.#end
    if (text.length * 3 > room && Buffer.byteLength(text) > room) return null
    return this.#bytes.subarray(this.#end, this.#end + this.#bytes.write(text, this.#end, 'utf8'))
  }

  hold({ length }: Buffer, group: CommitGroup): void {
    this.places.push([this.#end, length])
    this.#end += length
    this.rowCount += group.rows.length
    for (const { chain, seq } of group.rows) if (foldsAt(seq)) this.rows.push({ chain, seq })
    for (const stamp of group.stamps) this.stamps.push(stamp)
    addUp(this.agentCounts, group.agentCounts)
    addUp(this.sessionCounts, group.sessionCounts)
    this.clockMs = group.clockMs
    this.sealed = group.sealed
  }

  /** The hashes of the rows, in no order. */
  *hashes(): Iterable<string> {
    for (const [at, length] of this.places) {
      const [, ...lines] = this.#bytes.toString('utf8', at, at + length).split(separator)
      for (const line of lines) yield line.slice(0, hashLength)
    }
  }

  clear(): void {
    this.#end = 0
    this.rowCount = 0
    this.places = []
    this.rows = []
    this.stamps = []
    this.agentCounts = new Map()
    this.sessionCounts = new Map()
  }
}

const addUp = (sums: Map<string, number>, counts: ReadonlyMap<string, number>): void => {
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count)
}

/**
 * Groups that somebody else keeps durably until they are in the database. One half is filled while the
 * other is stored, by a thread beside this one: a commit of SQLite's writes every page that a row touches,
 * which is several times the work of keeping the row, and less for each row the more there are.
 */
export class PromisedGroups implements GroupPromises {
  readonly #mutex: FifoMutex
  readonly #store: (kept: KeptGroups) => Promise<void>
  readonly #halves = [new Half(), new Half()] as const
  /** The half that is filled. The other is empty, is being stored, or was not stored when the store failed. */
  #half: 0 | 1 = 0
  /** One that is under way, or waits for its turn. */
  #running: Promise<void> | null = null
  #storing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #failure: Error | null = null
  /** When somebody last asked for everything to be stored, by `performance.now`. */
  #readAt = Number.NEGATIVE_INFINITY

  /** `store` runs while the mutex is held; what it gets stays as it is until it is done. */
  constructor(mutex: FifoMutex, store: (kept: KeptGroups) => Promise<void>) {
    this.#mutex = mutex
    this.#store = store
  }

  get isEmpty(): boolean {
    return this.#filling.isEmpty && this.#settling.isEmpty
  }

  get #rowsAtOnce(): number {
    return performance.now() - this.#readAt < readsLastMs ? settleRowsForReaders : settleRows
  }

  get #filling(): Half {
    return this.#halves[this.#half]
  }

  get #settling(): Half {
    return this.#halves[this.#half === 0 ? 1 : 0]
  }

  get isBlocked(): boolean {
    return this.#failure instanceof GatehouseError && this.#failure.type === 'Conflict'
  }

  get pendingRows(): number {
    return this.#filling.rowCount + this.#settling.rowCount
  }

  /** The hashes of rows that are not known to be stored. */
  pendingHashes(): ReadonlySet<string> {
    return new Set([...this.#settling.hashes(), ...this.#filling.hashes()])
  }

  /** Resolves when what is being stored now is; null while nothing is. Never rejects. */
  get storing(): Promise<void> | null {
    return this.#storing
  }

  add(group: CommitGroup, keep: (record: Buffer, place: RecordPlace) => boolean): boolean {
    // What could not be stored must not grow: then the next caller learns why, and nobody is answered.
    if (this.#failure !== null) throw this.#failure
    const filling = this.#filling
    const record = filling.write(groupText(group))
    if (!record || !keep(record, { half: this.#half, fresh: filling.isEmpty })) return false
    filling.hold(record, group)
    this.#later(filling.rowCount < this.#rowsAtOnce ? settleAfterMs : 0)
    return true
  }

  /** Resolves when everything promised before is stored, whatever comes meanwhile. Raises what the store raised. */
  async settle(): Promise<void> {
    this.#readAt = performance.now()
    await this.#settle()
  }

  async #settle(): Promise<void> {
    // One that is under way may have begun before the last promise.
    if (this.#running) await this.#running.catch(() => undefined)
    if (this.isEmpty) return
    this.#running ??= this.#mutex.run(() => this.settleInTurn())
    await this.#running
  }

  /**
   * The same for a reader: not while a transaction is open, since it may be the reader's own. A settling that
   * waits for that transaction would never come.
   */
  async settleForReader(): Promise<void> {
    if (this.isEmpty) return
    if (this.#storing || !this.#mutex.isHeld) await this.settle()
  }

  /** The same for who holds the mutex. */
  async settleInTurn(): Promise<void> {
    const stored = this.#storeHalves()
    this.#storing = stored.catch(() => undefined)
    try {
      await stored
      this.#failure = null
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error), { cause: error })
      this.#later(againAfterMs)
      throw error
    } finally {
      this.#storing = null
      this.#running = null
    }
  }

  /** What comes while this runs is for the next time, or under load there would be no end to it. */
  async #storeHalves(): Promise<void> {
    if (!this.#settling.isEmpty) await this.#storeHalf()
    if (!this.#filling.isEmpty) await this.#storeHalf()
  }

  async #storeHalf(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#settling.isEmpty) this.#half = this.#half === 0 ? 1 : 0
    const settling = this.#settling
    await this.#store(settling)
    settling.clear()
  }

  #later(ms: number): void {
    if (ms === 0 && this.#running === null && !this.#mutex.isHeld) {
      this.#settleQuietly()
      return
    }
    this.#timer ??= setTimeout(() => this.#settleQuietly(), ms).unref()
  }

  #settleQuietly(): void {
    this.#timer = null
    // Whoever is told of a failure is the next caller.
    this.#settle().catch(() => undefined)
  }
}
