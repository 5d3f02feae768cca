import { Kysely, type Migration, sql } from 'kysely'
import { SlidingWindows } from '../../domain/sliding-window.ts'
import type { CommitGroup } from '../../ports/audit-rows.ts'
import type { Storage, StoreSharing } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { recordedIn, sqlAuditCopies } from '../sql/audit-copies.ts'
import { kindOf } from '../sql/changes.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import { assertNotMoved } from '../sql/move-mark.ts'
import type { StoreDialect } from '../sql/store-dialect.ts'
import { assertStoreId, claimStoreId } from '../sql/store-id.ts'
import { groupStores, sqlStores } from '../sql/stores.ts'
import type { Tables } from '../sql/tables.ts'
import { SqliteConnection } from './adapter.ts'
import { copyBeforeMigration, createPrivateFile } from './copy.ts'
import { readerDialect, sqliteSchema, writerDialect } from './dialect.ts'
import { assertFileSum, removeFileSum, writeFileSum } from './file-sum.ts'
import { GroupBuffer } from './group-buffer.ts'
import { LimitBatches } from './limits.ts'
import { impatient, patient } from './patience.ts'
import { sqliteSearch } from './search.ts'
import { applyReaderSettings, applyWriterSettings } from './settings.ts'
import { windowLimits } from './window-limits.ts'

type Options = {
  readonly file: string
  /** Id that the store must have; null or left out for one that may be new. */
  readonly expectedId?: string | null
  /** Whether a store that is on its way elsewhere, or from there, is opened too. */
  readonly moves?: boolean | undefined
  /** Other processes that have it open, too; null or left out where there are none. */
  readonly sharing?: StoreSharing | null
}

/** Nodes do not share it: each look for events begins anew. */
const sqliteStores: StoreDialect = { search: sqliteSearch, eventHorizon: sql`0` }

/** Opens the store in this file, makes or upgrades it as needed, and counts on being its only writer but for those it is told of. */
export const openSqlite = (options: Options): Promise<Storage> =>
  openSqliteWith(options, migrations(sqliteSchema))

/** The same, with the migrations given. */
export const openSqliteWith = async (
  { file, expectedId = null, moves = false, sharing = null }: Options,
  steps: Record<string, Migration>,
): Promise<Storage> => {
  const joins = sharing?.joins === true
  if (!joins) {
    createPrivateFile(file)
    assertFileSum(file)
  }
  const opened: SqliteConnection[] = []
  const connect = (readOnly: boolean): SqliteConnection => {
    const waits = readOnly || !sharing ? {} : { timeoutMs: 0 }
    const connection = new SqliteConnection(file, { readOnly, ...waits })
    // The reader goes first: the last one to close moves the WAL into the database.
    opened.unshift(connection)
    return connection
  }
  const close = () => {
    for (const connection of opened) connection[Symbol.dispose]()
  }
  try {
    const expected = { id: expectedId, file, moves }
    return await build(connect, close, joins ? null : steps, expected, sharing)
  } catch (error) {
    close()
    throw error
  }
}

/** Closing alone moves nothing while Node still holds statements: the WAL would stay beside the database. */
const emptyWal = (writer: SqliteConnection): void => {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // Closed before, or there is no room: the next start reads the WAL.
  }
}

type Expected = { readonly id: string | null; readonly file: string; readonly moves: boolean }

const assertExpected = async (db: Kysely<Tables>, { id, file, moves }: Expected): Promise<void> => {
  await assertStoreId(db, id, file)
  if (!moves) await assertNotMoved(db)
}

/** Leaves one file that has everything, and its sum. */
const closeWhole = (writer: SqliteConnection, close: () => void): void => {
  emptyWal(writer)
  close()
  writeFileSum(writer.file)
}

const noteIn = (buffer: GroupBuffer, group: CommitGroup, sharing: StoreSharing | null): null => {
  buffer.note(group)
  if (group.rows.length > 0) sharing?.tell('audit')
  return null
}

/** Nobody else changes anything. */
const nothing: Disposable = { [Symbol.dispose]() {} }

const othersOf = (sharing: StoreSharing | null) => ({
  patience: sharing ? patient : impatient,
  changed: (table: string): void => {
    const kind = kindOf(table)
    if (kind) sharing?.tell(kind)
  },
})

const build = async (
  connect: (readOnly: boolean) => SqliteConnection,
  close: () => void,
  /** Null where another process has seen to them. */
  steps: Record<string, Migration> | null,
  expected: Expected,
  sharing: StoreSharing | null,
): Promise<Storage> => {
  const writer = connect(false)
  const found = new Kysely<Tables>({ dialect: readerDialect(writer) })
  await assertExpected(found, expected)
  if (steps) removeFileSum(expected.file)
  applyWriterSettings(writer, sharing ? 0 : undefined)
  const mutex = new FifoMutex()
  // Named before it exists: it writes with what needs the migrated schema.
  let groups: GroupBuffer | null = null
  const { patience, changed } = othersOf(sharing)
  const write = new Kysely<Tables>({
    dialect: writerDialect(writer, mutex, () => groups?.flush(), { patience, changed }),
  })
  const copyFirst = async (migration: string) => void copyBeforeMigration(writer, migration)
  if (steps) await migrate(write, steps, copyFirst)
  const id = await claimStoreId(write)
  const reader = connect(true)
  applyReaderSettings(reader)
  const read = new Kysely<Tables>({ dialect: readerDialect(reader) })
  const readFlushed = new Kysely<Tables>({
    dialect: readerDialect(reader, () => groups?.flushForReader()),
  })

  // Loops that look for work several times a second must not have a few counts stored each time.
  const stores = {
    ...sqlStores({ read, write }, sqliteStores),
    ...groupStores({ read: readFlushed, write }),
  }
  const windows = new SlidingWindows()
  new LimitBatches(writer).prime(windows, await stores.clock.read())
  const buffer = new GroupBuffer(writer, mutex, patience)
  groups = buffer

  return {
    ...stores,
    engine: 'sqlite',
    isShared: sharing !== null,
    isNetworked: false,
    id,
    copies: { ...sqlAuditCopies({ read, write }), takeForeign: async () => false },
    limits: windowLimits(windows),
    wallMs: async () => Date.now(),
    onForeignChange: (kind, listener) => sharing?.onForeignChange(kind, listener) ?? nothing,

    transaction: (work) =>
      write.transaction().execute((tx) => work(sqlStores({ read: tx, write: tx }, sqliteStores))),

    record: (group) => noteIn(buffer, group, sharing),
    recorded: (chain) => recordedIn({ read }, chain),
    flush: () => mutex.run(() => buffer.flush()),

    // Open transactions finish first; later callers find the connections closed.
    [Symbol.asyncDispose]: () =>
      mutex.run(async () => {
        // The log has it too: what is not stored by then is recorded from there at the next start.
        await (async () => buffer.flush())().catch(() => undefined)
        buffer.end()
        if (steps) closeWhole(writer, close)
        else close()
      }),
  }
}
