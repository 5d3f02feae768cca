import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { type AuditLogOptions, type LocalAuditLog, openAuditLog } from '../../src/log/audit-log.ts'
import type { LoggedEntry } from '../../src/log/frame.ts'
import {
  createIds,
  draft,
  entriesIn,
  HandClock,
  type Mutable,
  silent,
  writeEntries,
} from '../../src/log/testing.ts'
import type { CommitGroup } from '../../src/ports/audit-rows.ts'
import type { Storage } from '../../src/ports/storage.ts'

/** A store that takes what the log derives, and that a test can make fail. */
class FailingStore {
  readonly groups: CommitGroup[] = []
  /** Called around each write; either may throw. */
  before: () => void = () => undefined
  after: () => void = () => undefined
  /** Called in each transaction once its work is done, before it commits. */
  committing: () => Promise<unknown> = async () => undefined
  readonly storage: Storage

  constructor(storage: Storage) {
    this.storage = {
      ...storage,
      record: async (group) => {
        this.before()
        await storage.record(group)
        this.groups.push(group)
        this.after()
      },
      transaction: async (work) => {
        this.before()
        return storage.transaction(async (tx) => {
          const value = await work(tx)
          await this.committing()
          return value
        })
      },
    }
  }
}

export type Bench = AsyncDisposable & {
  readonly directory: string
  readonly store: FailingStore
  readonly clock: HandClock
  log: LocalAuditLog
  /** Appends that many entries, in groups. */
  fill(count: number): Promise<void>
  entries(): Mutable<LoggedEntry>[]
  /** Changes the files behind the log's back. */
  tamper(change: (entries: Mutable<LoggedEntry>[]) => void): void
  close(): Promise<void>
  reopen(): Promise<void>
}

/** A log in a folder of its own, gone at the end. */
export const openBench = async (options: Partial<AuditLogOptions> = {}): Promise<Bench> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-audit-'))
  const [clock, ids] = [new HandClock(), createIds()]
  const store = new FailingStore(await openQuickStore())
  const open = () =>
    openAuditLog({
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
    entries: () => entriesIn(directory),
    tamper(change) {
      const entries = bench.entries()
      change(entries)
      writeEntries(directory, entries, options.chain)
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
      await store.storage[Symbol.asyncDispose]()
      fs.rmSync(directory, { recursive: true })
    },
  }
  return bench
}
