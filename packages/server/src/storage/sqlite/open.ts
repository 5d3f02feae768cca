import { Kysely, type Migration } from 'kysely'
import { SlidingWindows } from '../../domain/sliding-window.ts'
import type { AuditRows, CommitGroup } from '../../ports/audit-rows.ts'
import type { Storage } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import { assertStoreId, claimStoreId } from '../sql/store-id.ts'
import { groupStores, sqlStores } from '../sql/stores.ts'
import type { Tables } from '../sql/tables.ts'
import { windowLimits } from '../window-limits.ts'
import { SqliteConnection } from './adapter.ts'
import { copyBeforeMigration, createPrivateFile } from './copy.ts'
import { readerDialect, sqliteSchema, writerDialect } from './dialect.ts'
import { evictRows } from './evict-rows.ts'
import { FileWatch } from './file-watch.ts'
import { GroupCommit } from './group-commit.ts'
import { LimitBatches } from './limits.ts'
import { groupsOfTexts, PromisedGroups } from './promised-groups.ts'
import { sqliteSearch } from './search.ts'
import { settleReader, settleWriter, writerPragmas } from './settings.ts'
import { SettleWorker } from './settle-worker.ts'

type Options = {
  readonly file: string
  /** Groups that the last run promised, whether or not it stored them. */
  readonly promised?: readonly string[]
  /** Says which of those groups are to be stored, after a look at what is there; all of them without it. */
  readonly admit?: Admit
  /** Id that the store must have; null or left out for one that may be new. */
  readonly expectedId?: string | null
}

export type Admit = (
  groups: readonly CommitGroup[],
  store: Pick<Storage, 'auditRows' | 'meta' | 'evictRows'>,
) => Promise<readonly CommitGroup[]>

/** Opens the store in this file, makes or upgrades it as needed, and counts on being its only writer. */
export const openSqlite = (options: Options): Promise<Storage> =>
  openSqliteWith(options, migrations(sqliteSchema))

/** The same, with the migrations given. */
export const openSqliteWith = async (
  { file, promised = [], admit = async (groups) => groups, expectedId = null }: Options,
  steps: Record<string, Migration>,
): Promise<Storage> => {
  createPrivateFile(file)
  const opened: SqliteConnection[] = []
  const connect = (readOnly: boolean): SqliteConnection => {
    const connection = new SqliteConnection(file, { readOnly })
    // The reader goes first: the last one to close moves the WAL into the database.
    opened.unshift(connection)
    return connection
  }
  const close = () => {
    for (const connection of opened) connection[Symbol.dispose]()
  }
  try {
    const expected = { id: expectedId, file }
    return await build(connect, close, steps, expected, async (store) =>
      admit(groupsOfTexts(promised), store),
    )
  } catch (error) {
    close()
    throw error
  }
}

const build = async (
  connect: (readOnly: boolean) => SqliteConnection,
  close: () => void,
  steps: Record<string, Migration>,
  expected: { readonly id: string | null; readonly file: string },
  promised: (store: Parameters<Admit>[1]) => Promise<readonly CommitGroup[]>,
): Promise<Storage> => {
  const writer = connect(false)
  const found = new Kysely<Tables>({ dialect: readerDialect(writer) })
  await assertStoreId(found, expected.id, expected.file)
  settleWriter(writer)
  const watch = new FileWatch(writer)
  const mutex = new FifoMutex()
  // Named before it exists: it stores with what needs the migrated schema.
  let promises: PromisedGroups | null = null
  const settle = () => promises?.settleInTurn()
  const write = new Kysely<Tables>({ dialect: writerDialect(writer, watch, mutex, settle) })
  await migrate(write, steps, async (migration) => {
    copyBeforeMigration(writer, migration)
  })
  const id = await claimStoreId(write)
  const reader = connect(true)
  settleReader(reader)
  const read = new Kysely<Tables>({ dialect: readerDialect(reader) })
  const readSettled = new Kysely<Tables>({
    dialect: readerDialect(reader, () => promises?.settleForReader()),
  })

  // What looks for work several times a second must not make the thread beside store a few rows each time.
  const stores = {
    ...sqlStores({ read, write }, sqliteSearch),
    ...groupStores({ read: readSettled, write }),
  }
  const windows = new SlidingWindows()
  const batches = new LimitBatches(writer)
  const groups = new GroupCommit(write, writer, batches)
  const run = (group: CommitGroup): void => {
    watch.beforeWrite()
    try {
      groups.run(group)
    } finally {
      watch.afterWrite()
    }
  }
  const evict = evictRows(writer, () => promises?.pendingHashes() ?? new Set())
  await bringBack(stores.auditRows, await promised({ ...stores, evictRows: evict }), run)
  batches.prime(windows, await stores.clock.read())
  watch.takeForeign()
  const beside = new SettleWorker(writer.file, writerPragmas)
  const promising = new PromisedGroups(mutex, async (kept) => {
    watch.beforeWrite()
    let foreign = false
    try {
      foreign = await beside.run({
        shared: kept.shared,
        places: kept.places,
        insert: groups.insertText,
        statements: groups.statementsBesideRows(kept),
        others: writer.takeWrites(),
      })
    } finally {
      watch.afterWriteElsewhere(foreign)
    }
  })
  promises = promising

  return {
    ...stores,
    // The log is compared with its mark, which covers promised groups: they have to be there, whoever waits.
    auditRows: settledFirst(stores.auditRows, () => promising.settle()),
    promises: promising,
    engine: 'sqlite',
    id,
    limits: windowLimits(windows),

    transaction: (work) =>
      write.transaction().execute((tx) =>
        work({
          ...sqlStores({ read: tx, write: tx }, sqliteSearch),
          // The transaction holds the writer, so these statements are a part of it.
          storeGroup: async (group) => groups.store(group),
        }),
      ),

    commitGroup: (group) =>
      promising.isEmpty
        ? mutex.runNow(() => run(group))
        : mutex.run(async () => {
            await settle()
            run(group)
          }),

    evictRows: (...given) =>
      mutex.run(async () => {
        watch.beforeWrite()
        try {
          return await evict(...given)
        } finally {
          watch.afterWrite()
        }
      }),

    foreignChange: async () => {
      // Half a write of ours, by the thread beside, looks like somebody else's.
      while (promising.storing) await promising.storing
      const changed = watch.takeForeign()
      // @SECURITY what was changed in the files must be read from them, not from this connection's
      // pages; test/integration/bytes.test.ts.
      if (changed) reader.exec('pragma shrink_memory')
      return changed
    },

    // Whoever is in a transaction finishes it first; who comes later finds the connections closed.
    [Symbol.asyncDispose]: () =>
      mutex.run(async () => {
        try {
          await settle()
        } finally {
          await beside.end()
          close()
        }
      }),
  }
}

/** Stores each promised group that is the next one; what is there already, or leaves a gap, the mark judges. */
const bringBack = async (
  rows: AuditRows,
  groups: readonly CommitGroup[],
  store: (group: CommitGroup) => void,
): Promise<void> => {
  const nextOf = new Map<string, number>()
  for (const group of groups) {
    const first = group.rows[0]
    if (!first) continue
    const { chain, seq } = first
    let next = nextOf.get(chain) ?? ((await rows.head(chain))?.seq ?? -1) + 1
    if (seq === next) {
      store(group)
      next += group.rows.length
    }
    nextOf.set(chain, next)
  }
}

const settledFirst = (rows: AuditRows, settle: () => Promise<void>): AuditRows => {
  const after =
    <A extends readonly unknown[], R>(method: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await settle()
      return method(...given)
    }
  return {
    insert: after(rows.insert),
    head: after(rows.head),
    range: after(rows.range),
    chains: after(rows.chains),
    ends: after(rows.ends),
    find: after(rows.find),
    query: after(rows.query),
    activity: after(rows.activity),
    openIntents: after(rows.openIntents),
    counts: after(rows.counts),
    statsOf: after(rows.statsOf),
  }
}
