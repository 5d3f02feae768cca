import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { AuditDraft } from '../ports/audit.ts'
import type { AuditRow, AuditRows, CommitGroup } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Storage, Stores } from '../ports/storage.ts'
import { type AuditLog, type JournalOptions, openJournal } from './journal.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A store whose rows a test can reach behind the log's back, and whose writes it can make fail. */
export class OpenStorage {
  rows: Mutable<AuditRow>[] = []
  groups: CommitGroup[] = []
  meta = new Map<string, string>()
  touched = false
  /** Called with each write; `before` may throw, `after` may throw when the write has happened. */
  before: () => void = () => undefined
  after: () => void = () => undefined

  readonly auditRows: AuditRows = {
    insert: async (rows) => this.#insert(rows),
    head: async (chain) => this.#of(chain).at(-1) ?? null,
    range: async (chain, from, to, limit) => this.#between(chain, from, to).slice(0, limit),
    chains: async () =>
      [...new Set(this.rows.map((row) => row.chain))]
        .sort()
        .map((chain) => ({ chain, rows: this.#of(chain).length })),
    find: async (id) => this.rows.find((row) => row.id === id) ?? null,
    query: async (filter) => {
      const found = this.rows
        .filter((row) => filter.agent === undefined || row.agent === filter.agent)
        .filter((row) => filter.result === undefined || row.result === filter.result)
        .toReversed()
      const { offset, limit } = filter
      return { rows: found.slice(offset, offset + limit), total: found.length }
    },
    ends: async () =>
      [...new Set(this.rows.map((row) => row.chain))]
        .sort()
        .map((chain) => ({ chain, next: (this.#of(chain).at(-1)?.seq ?? -1) + 1 })),
    activity: async () => ({ rows: [], total: 0 }),
    openIntents: async (chain, limit) => {
      const closed = new Set(this.rows.map((row) => row.intent_id))
      return this.#of(chain)
        .filter((row) => row.kind === 'call' && row.result === 'pending')
        .filter((row) => row.approval_id === null && !closed.has(row.id))
        .slice(0, limit)
    },
    counts: async () => ({ calls: 0, denied: 0, entries: this.rows.length }),
    statsOf: async () => ({ by_capability: [], by_day: [] }),
  }

  /** As an engine sees it. Only what the log uses is there. */
  get storage(): Storage {
    const stores = {
      meta: {
        get: async (key: string) => this.meta.get(key) ?? null,
        set: async (key: string, value: string) => void this.meta.set(key, value),
      },
    } as unknown as Stores
    return {
      ...stores,
      engine: 'memory',
      id: 'memory',
      auditRows: this.auditRows,
      limits: null as never,
      transaction: async (work) => {
        const [rows, meta] = [[...this.rows], new Map(this.meta)]
        try {
          this.before()
          const value = await work({
            ...stores,
            auditRows: this.auditRows,
            storeGroup: async (group) => {
              this.#store(group)
            },
          })
          return value
        } catch (error) {
          this.rows = rows
          this.meta = meta
          throw error
        }
      },
      commitGroup: async (group) => {
        this.before()
        this.#store(group)
        this.after()
      },
      evictRows: async (chain, from, to, keep) => {
        const gone = this.#of(chain).filter((row) => row.seq >= from && row.seq < to)
        if (gone.length === 0) return 0
        keep(gone)
        this.rows = this.rows.filter((row) => !gone.includes(row))
        return gone.length
      },
      foreignChange: async () => {
        const { touched } = this
        this.touched = false
        return touched
      },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }

  #store(group: CommitGroup): void {
    this.#insert(group.rows)
    this.groups.push(group)
    if (group.sealed) this.meta.set(group.sealed.key, group.sealed.value)
  }

  #insert(rows: readonly AuditRow[]): void {
    for (const row of rows) {
      const last = this.rows.at(-1)
      if (last?.chain === row.chain && last.seq >= row.seq) throw new Error('seq in use')
      this.rows.push({ ...row })
    }
  }

  #of(chain: string): AuditRow[] {
    return this.rows.filter((row) => row.chain === chain)
  }

  #between(chain: string, from: number, to: number): AuditRow[] {
    const all = this.rows
    // Rows of one chain stand in order: enough for logs of some size.
    if (all[0]?.chain === chain && all.at(-1)?.chain === chain && all[0].seq === 0) {
      let start = Math.max(0, Math.min(from, all.length))
      while (start > 0 && (all[start - 1] as AuditRow).seq >= from) start -= 1
      while (start < all.length && (all[start] as AuditRow).seq < from) start += 1
      let end = start
      while (end < all.length && (all[end] as AuditRow).seq < to && end - start < 1024) end += 1
      return all.slice(start, end).filter((row) => row.chain === chain)
    }
    return this.#of(chain)
      .filter((row) => row.seq >= from && row.seq < to)
      .sort((a, b) => a.seq - b.seq)
  }
}

export const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const createIds = (): Ids => {
  let count = 0
  return {
    next(prefix) {
      let rest = count++
      let text = ''
      for (let i = 0; i < 26; i++) {
        text = alphabet.charAt(rest % 32) + text
        rest = Math.floor(rest / 32)
      }
      return `${prefix}-${text}`
    },
    secret: () => Buffer.alloc(32),
  }
}

/** Stands still until it is moved; sleepers wake when their time has come or their signal aborts. */
export class HandClock implements Clock {
  ms = Date.UTC(2026, 0, 1)
  /** How far the wall clock is off: somebody sets it, or it follows another one. */
  wallOffsetMs = 0
  readonly #sleepers = new Set<{ at: number; wake: () => void }>()
  wall(): number {
    return this.ms + this.wallOffsetMs
  }
  now(): number {
    return this.ms
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = {
        at: this.ms + ms,
        wake: () => {
          this.#sleepers.delete(sleeper)
          signal?.removeEventListener('abort', sleeper.wake)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', sleeper.wake, { once: true })
      if (signal?.aborted) sleeper.wake()
    })
  }
  after(ms: number, callback: () => void): Disposable {
    const gone = new AbortController()
    const wait = async (): Promise<void> => {
      await this.sleep(ms, gone.signal)
      if (!gone.signal.aborted) callback()
    }
    void wait()
    return { [Symbol.dispose]: () => gone.abort() }
  }
  move(ms: number): void {
    this.ms += ms
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.ms) sleeper.wake()
  }
}

export const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

export const draft = (change: Partial<AuditDraft> = {}): AuditDraft => ({
  kind: 'call',
  agent: 'mailbot',
  capability: 'filesystem.read',
  arguments: { path: 'notes/today.md' },
  result: 'success',
  policy_decision: 'autonomous',
  actor: 'agent:mailbot',
  session_id: null,
  request_id: 'req-1',
  rule: { layer: 'system', file: 'default', line: 3, match: 'filesystem.read' },
  duration_ms: 2,
  approval_id: null,
  intent_id: null,
  error: null,
  detail: null,
  ...change,
})

export type Bench = AsyncDisposable & {
  readonly directory: string
  readonly store: OpenStorage
  readonly clock: HandClock
  log: AuditLog
  /** Appends that many entries, in groups. */
  fill(count: number): Promise<void>
  close(): Promise<void>
  reopen(): Promise<void>
}

/** A log on an open store in a folder of its own, gone at the end. */
export const openBench = async (options: Partial<JournalOptions> = {}): Promise<Bench> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-audit-'))
  const [store, clock, ids] = [new OpenStorage(), new HandClock(), createIds()]
  const open = () =>
    openJournal({
      directory,
      chain: 'main',
      ids,
      clock,
      log: silent,
      verifyEveryMs: 0,
      ...options,
      storage: store.storage,
    })
  let closed = false
  const bench: Bench = {
    directory,
    store,
    clock,
    log: await open(),
    async fill(count) {
      const all = Array.from({ length: count }, (_, i) =>
        bench.log.append(draft({ arguments: { path: `notes/${i}.md` }, duration_ms: i % 7 })),
      )
      await Promise.all(all)
    },
    async close() {
      closed = true
      await bench.log[Symbol.asyncDispose]()
    },
    async reopen() {
      if (!closed) await bench.close()
      bench.log = await open()
      closed = false
    },
    async [Symbol.asyncDispose]() {
      if (!closed) await bench.close()
      fs.rmSync(directory, { recursive: true })
    },
  }
  return bench
}

export const everything = { limit: 100, offset: 0 } as const

export const textOf = async (lines: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const line of lines) text += line
  return text
}

/** Rows for reading, until they are disposed. */
export const openReader = (rows: readonly AuditRow[]): AuditRows & AsyncDisposable => {
  const store = new OpenStorage()
  store.rows = [...rows]
  let open = true
  const whileOpen: ProxyHandler<AuditRows> = {
    get(target, name) {
      if (!open) throw new Error('the rows are closed')
      return Reflect.get(target, name) as unknown
    },
  }
  const close = async () => {
    open = false
  }
  return Object.assign(new Proxy({ ...store.auditRows }, whileOpen), {
    [Symbol.asyncDispose]: close,
  })
}
