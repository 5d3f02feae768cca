import { Kysely, type Migration } from 'kysely'
import { SlidingWindows } from '../../domain/sliding-window.ts'
import type { AuditIndex, CommitGroup } from '../../ports/audit-rows.ts'
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
import { FileWatch } from './file-watch.ts'
import { GroupCommit } from './group-commit.ts'
import { compileGroupTexts } from './group-texts.ts'
import { BehindIndex } from './index-behind.ts'
import { LimitBatches } from './limits.ts'
import { sqliteSearch } from './search.ts'
import { indexerPragmas, settleReader, settleWriter } from './settings.ts'

type Options = {
  readonly file: string
  /** The program of the thread that indexes the log; without it groups are indexed at once, on this thread. */
  readonly indexer?: URL
  /** Id that the store must have; null or left out for one that may be new. */
  readonly expectedId?: string | null
}

/** Opens the store in this file, makes or upgrades it as needed, and counts on being its only writer. */
export const openSqlite = (options: Options): Promise<Storage> =>
  openSqliteWith(options, migrations(sqliteSchema))

/** The same, with the migrations given. */
export const openSqliteWith = async (
  { file, indexer, expectedId = null }: Options,
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
    return await build(connect, close, steps, expected, indexer)
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
  indexer: URL | undefined,
): Promise<Storage> => {
  const writer = connect(false)
  const found = new Kysely<Tables>({ dialect: readerDialect(writer) })
  await assertStoreId(found, expected.id, expected.file)
  settleWriter(writer)
  const watch = new FileWatch(writer)
  const mutex = new FifoMutex()
  // Named before it exists: it writes with what needs the migrated schema.
  let behind: BehindIndex | null = null
  const takeIn = () => behind?.takeIn()
  const write = new Kysely<Tables>({ dialect: writerDialect(writer, watch, mutex, takeIn) })
  await migrate(write, steps, async (migration) => {
    copyBeforeMigration(writer, migration)
  })
  const id = await claimStoreId(write)
  const reader = connect(true)
  settleReader(reader)
  const read = new Kysely<Tables>({ dialect: readerDialect(reader) })
  const readCaughtUp = new Kysely<Tables>({
    dialect: readerDialect(reader, () => behind?.caughtUpForReader()),
  })

  // What looks for work several times a second must not make the thread beside index a few rows each time.
  const stores = {
    ...sqlStores({ read, write }, sqliteSearch),
    ...groupStores({ read: readCaughtUp, write }),
  }
  const windows = new SlidingWindows()
  const texts = compileGroupTexts(write)
  const groups = new GroupCommit(writer, texts)
  const run = (group: CommitGroup): void => {
    watch.beforeWrite()
    writer.run('begin immediate', [])
    try {
      groups.store(group)
      writer.run('commit', [])
    } catch (error) {
      writer.rollback()
      throw error
    } finally {
      watch.afterWrite()
    }
  }
  new LimitBatches(writer).prime(windows, await stores.clock.read())
  watch.takeForeign()
  if (indexer)
    behind = new BehindIndex({
      file: writer.file,
      program: indexer,
      texts,
      pragmas: indexerPragmas,
      mutex,
      async around(work) {
        watch.beforeWrite()
        let foreign = false
        try {
          foreign = await work(writer.takeWrites())
        } finally {
          watch.afterWriteElsewhere(foreign)
        }
      },
    })
  const thread = behind
  const caughtUp = async () => thread?.caughtUp()

  return {
    ...stores,
    auditIndex: indexCaughtUp(stores.auditIndex, caughtUp, () => thread?.forget()),
    ...(thread ? { behind: thread } : {}),
    engine: 'sqlite',
    isShared: false,
    id,
    limits: windowLimits(windows),

    transaction: (work) =>
      write.transaction().execute((tx) => work(sqlStores({ read: tx, write: tx }, sqliteSearch))),

    indexGroup: (group) =>
      thread === null || thread.isEmpty
        ? mutex.runNow(() => run(group))
        : mutex.run(async () => {
            await thread.takeIn()
            run(group)
          }),

    foreignChange: async () => {
      // Half a write of ours, by the thread beside, looks like somebody else's.
      while (thread?.running) await thread.running
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
          await thread?.takeIn()
        } finally {
          await thread?.end()
          close()
        }
      }),
  }
}

const indexCaughtUp = (
  index: AuditIndex,
  caughtUp: () => Promise<void>,
  forget: () => void,
): AuditIndex => {
  const after =
    <A extends readonly unknown[], R>(method: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await caughtUp()
      return method(...given)
    }
  /** What it is a moment later is better than nothing where the index cannot be written: health asks for it. */
  const lately =
    <A extends readonly unknown[], R>(method: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await caughtUp().catch(() => undefined)
      return method(...given)
    }
  return {
    find: after(index.find),
    query: after(index.query),
    activity: after(index.activity),
    range: after(index.range),
    ends: after(index.ends),
    openIntents: after(index.openIntents),
    counts: lately(index.counts),
    statsOf: lately(index.statsOf),
    size: after(index.size),
    progress: index.progress,
    copies: index.copies,
    dropCopies: index.dropCopies,
    clear(chain) {
      forget()
      return index.clear(chain)
    },
  }
}
