import type { CommitGroup } from '../../ports/audit-rows.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { FifoMutex } from '../mutex.ts'
import { encodeText } from '../sql/text.ts'
import type { SqliteConnection } from './adapter.ts'
import { LimitBatches } from './limits.ts'
import { impatient, type Patience } from './patience.ts'

/** A commit costs more than the calls that it counts, so that one waits for more to come. */
const laterMs = 250
const againAfterMs = 1_000
/** Stamps in memory, at most: each is some 100 bytes. */
const stampsMax = 16_384

type Counts = Map<string, number>

const addTo = (counts: Counts, more: ReadonlyMap<string, number>): void => {
  for (const [key, count] of more) counts.set(key, (counts.get(key) ?? 0) + count)
}

/** Consequences of groups of the log, kept until they are stored in one transaction. */
export class GroupBuffer {
  readonly #writer: SqliteConnection
  readonly #mutex: FifoMutex
  readonly #batches: LimitBatches
  readonly #patience: Patience
  /** By chain, the number of the next entry that is neither stored nor kept here. */
  readonly #next: Counts
  #moved = new Set<string>()
  #agents: Counts = new Map()
  #sessions: Counts = new Map()
  #stamps: LimitStamp[] = []
  #clockMs = 0
  #isEmpty = true
  #timer: NodeJS.Timeout | null = null
  /** When the last attempt failed, by `performance.now`. */
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(writer: SqliteConnection, mutex: FifoMutex, patience: Patience = impatient) {
    this.#patience = patience
    this.#writer = writer
    this.#mutex = mutex
    this.#batches = new LimitBatches(writer)
    const { rows } = writer.run('select chain, counted from audit_progress', [])
    this.#next = new Map(rows.map((row) => [String(row['chain']), Number(row['counted'])]))
  }

  get isEmpty(): boolean {
    return this.#isEmpty
  }

  note({ chain, rows, stamps, agentCounts, sessionCounts, clockMs }: CommitGroup): void {
    const [first, last] = [rows[0], rows.at(-1)]
    if (first && last) {
      if (first.seq < (this.#next.get(chain) ?? 0)) return
      this.#next.set(chain, last.seq + 1)
      this.#moved.add(chain)
    }
    addTo(this.#agents, agentCounts)
    addTo(this.#sessions, sessionCounts)
    this.#stamps.push(...stamps)
    this.#clockMs = clockMs
    this.#isEmpty = false
    this.#later(this.#stamps.length < stampsMax ? laterMs : 0)
  }

  /** Stores what is kept, for whoever has the mutex. Raises what the store raises, and keeps all of it then. */
  flush(): void | Promise<void> {
    if (!this.#isEmpty) return this.#patience(() => this.#flush())
  }

  #flush(): void {
    if (this.#isEmpty) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    try {
      this.#writer.run('begin immediate', [])
      this.#store()
      this.#writer.run('commit', [])
    } catch (error) {
      this.#writer.rollback()
      this.#failedAt = performance.now()
      this.#later(againAfterMs)
      throw error
    }
    this.#failedAt = Number.NEGATIVE_INFINITY
    this.#moved = new Set()
    this.#agents = new Map()
    this.#sessions = new Map()
    this.#stamps = []
    this.#isEmpty = true
  }

  /**
   * The same for a reader. Not while a transaction is open, since it may be the reader's own; and what was counted a
   * moment ago is better than nothing where the disk is full.
   */
  async flushForReader(): Promise<void> {
    if (this.#isEmpty || this.#mutex.isHeld) return
    // Readers come often: not each of them tries again what failed just now.
    if (performance.now() - this.#failedAt < againAfterMs) return
    await this.#mutex.run(() => this.flush()).catch(() => undefined)
  }

  end(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #store(): void {
    const run = (text: string, values: readonly (string | number)[]) =>
      this.#writer.run(text, values)
    const [agent, session] = [
      'update agents set total_invocations = total_invocations + ? where name = ?',
      'update sessions set invocations = invocations + ? where id = ?',
    ]
    for (const [name, calls] of this.#agents) run(agent, [calls, encodeText(name)])
    for (const [id, calls] of this.#sessions) run(session, [calls, encodeText(id)])
    for (const [text, values] of this.#batches.statements(this.#stamps, this.#clockMs))
      this.#writer.run(text, values)
    run('update service_clock set ms = max(ms, ?)', [this.#clockMs])
    const progress = `insert into audit_progress (chain, counted) values (?, ?)
      on conflict (chain) do update set counted = excluded.counted`
    for (const chain of this.#moved) run(progress, [chain, this.#next.get(chain) ?? 0])
  }

  #later(ms: number): void {
    if (ms === 0 && !this.#mutex.isHeld) return this.#quietly()
    this.#timer ??= setTimeout(() => this.#quietly(), ms).unref()
  }

  #quietly(): void {
    this.#timer = null
    // The next writer is told of a failure.
    this.#mutex.run(() => this.flush()).catch(() => undefined)
  }
}
