import { Kysely, type Migration } from 'kysely'
import { SlidingWindows } from '../../domain/sliding-window.ts'
import type { Storage } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import { sqlStores } from '../sql/stores.ts'
import type { Tables } from '../sql/tables.ts'
import { windowLimits } from '../window-limits.ts'
import { SqliteConnection } from './adapter.ts'
import { copyBeforeMigration, createPrivateFile } from './copy.ts'
import { readerDialect, sqliteSchema, writerDialect } from './dialect.ts'
import { FileWatch } from './file-watch.ts'
import { GroupCommit } from './group-commit.ts'
import { LimitBatches } from './limits.ts'
import { sqliteSearch } from './search.ts'
import { settleReader, settleWriter } from './settings.ts'

/** Opens the store in this file, makes or upgrades it as needed, and counts on being its only writer. */
export const openSqlite = (options: { readonly file: string }): Promise<Storage> =>
  openSqliteWith(options.file, migrations(sqliteSchema))

/** The same, with the migrations given. */
export const openSqliteWith = async (
  file: string,
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
    return await build(connect, close, steps)
  } catch (error) {
    close()
    throw error
  }
}

const build = async (
  connect: (readOnly: boolean) => SqliteConnection,
  close: () => void,
  steps: Record<string, Migration>,
): Promise<Storage> => {
  const writer = connect(false)
  settleWriter(writer)
  const watch = new FileWatch(writer)
  const mutex = new FifoMutex()
  const write = new Kysely<Tables>({ dialect: writerDialect(writer, watch, mutex) })
  await migrate(write, steps, async (migration) => {
    copyBeforeMigration(writer, migration)
  })
  const reader = connect(true)
  settleReader(reader)
  const read = new Kysely<Tables>({ dialect: readerDialect(reader) })

  const stores = sqlStores({ read, write }, sqliteSearch)
  const windows = new SlidingWindows()
  const batches = new LimitBatches(writer)
  batches.prime(windows, Number((await stores.meta.get('clock_ms')) ?? 0))
  const groups = new GroupCommit(write, writer, batches)
  watch.takeForeign()

  return {
    ...stores,
    engine: 'sqlite',
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
      mutex.runNow(() => {
        watch.beforeWrite()
        try {
          groups.run(group)
        } finally {
          watch.afterWrite()
        }
      }),

    foreignChange: async () => {
      const changed = watch.takeForeign()
      // @SECURITY what was changed in the files must be read from them, not from this connection's
      // pages; test/integration/bytes.test.ts.
      if (changed) reader.exec('pragma shrink_memory')
      return changed
    },

    // Whoever is in a transaction finishes it first; who comes later finds the connections closed.
    [Symbol.asyncDispose]: () => mutex.run(close),
  }
}
