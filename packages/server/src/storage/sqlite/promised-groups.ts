import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import type { GroupPromises, RecordPlace } from '../../ports/storage.ts'
import type { FifoMutex } from '../mutex.ts'

/** A lone caller waits for the disk that the other thread writes to, so that one waits for more to come. */
const settleAfterMs = 250
const settleRows = 256
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

const addUp = (all: readonly ReadonlyMap<string, number>[]): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const counts of all)
    for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count)
  return sums
}

type Promised = { readonly group: CommitGroup; readonly text: string }

/** Several groups as one, in their order: what they cost beside their rows is paid once. */
const joined = (groups: readonly CommitGroup[]): CommitGroup => ({
  rows: groups.flatMap((group) => group.rows),
  stamps: groups.flatMap((group) => group.stamps),
  agentCounts: addUp(groups.map((group) => group.agentCounts)),
  sessionCounts: addUp(groups.map((group) => group.sessionCounts)),
  clockMs: groups.at(-1)?.clockMs ?? 0,
})

/**
 * Groups that somebody else keeps durably until they are in the database. One half is filled while the
 * other is stored, by a thread beside this one: a commit of SQLite's writes every page that a row touches,
 * which is several times the work of keeping the row, and less for each row the more there are.
 */
export class PromisedGroups implements GroupPromises {
  readonly #mutex: FifoMutex
  readonly #store: (group: CommitGroup, texts: readonly string[]) => Promise<void>
  #half: 0 | 1 = 0
  #filling: Promised[] = []
  #rows = 0
  /** What is being stored, or was not stored yet when the store failed. */
  #settling: Promised[] = []
  /** One that is under way, or waits for its turn. */
  #running: Promise<void> | null = null
  #storing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #failure: Error | null = null

  /** `store` runs while the mutex is held; it gets the groups as one, and the text of each. */
  constructor(
    mutex: FifoMutex,
    store: (group: CommitGroup, texts: readonly string[]) => Promise<void>,
  ) {
    this.#mutex = mutex
    this.#store = store
  }

  get isEmpty(): boolean {
    return this.#filling.length === 0 && this.#settling.length === 0
  }

  /** Resolves when what is being stored now is; null while nothing is. Never rejects. */
  get storing(): Promise<void> | null {
    return this.#storing
  }

  add(group: CommitGroup, keep: (record: string, place: RecordPlace) => boolean): boolean {
    // What could not be stored must not grow: then the next caller learns why, and nobody is answered.
    if (this.#failure !== null) throw this.#failure
    const place = { half: this.#half, fresh: this.#filling.length === 0 }
    const text = groupText(group)
    if (!keep(text, place)) return false
    this.#filling.push({ group, text })
    this.#rows += group.rows.length
    this.#later(this.#rows < settleRows ? settleAfterMs : 0)
    return true
  }

  /** Resolves when everything promised before is stored, whatever comes meanwhile. Raises what the store raised. */
  async settle(): Promise<void> {
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
    if (this.#settling.length > 0) await this.#storeHalf()
    if (this.#filling.length > 0) await this.#storeHalf()
  }

  async #storeHalf(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#settling.length === 0) {
      this.#settling = this.#filling
      this.#filling = []
      this.#rows = 0
      this.#half = this.#half === 0 ? 1 : 0
    }
    const settling = this.#settling
    await this.#store(
      joined(settling.map(({ group }) => group)),
      settling.map(({ text }) => text),
    )
    this.#settling = []
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
    this.settle().catch(() => undefined)
  }
}
