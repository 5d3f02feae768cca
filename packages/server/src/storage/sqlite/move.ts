import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Kysely } from 'kysely'
import { FifoMutex } from '../mutex.ts'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import type { MoveEnd, MoveTarget } from '../sql/move-all.ts'
import type { Tables } from '../sql/tables.ts'
import { SqliteConnection } from './adapter.ts'
import { createPrivateFile, syncPath } from './copy.ts'
import { readerDialect, sqliteSchema, writerDialect } from './dialect.ts'
import { LimitBatches, storedStamps } from './limits.ts'
import { applyReaderSettings, applyWriterSettings } from './settings.ts'

const stampsOfRow = 4_096
const sidecars = ['', '-wal', '-shm'] as const

/** Files that a database consists of. */
export const databaseFiles = (file: string): readonly string[] =>
  sidecars.map((ending) => `${file}${ending}`)

/** Opens a store for reading beside the service's own connections; whoever has the lock stored all of it before. */
export const openSqliteSource = (file: string): MoveEnd & Disposable => {
  const connection = new SqliteConnection(file, { readOnly: true })
  applyReaderSettings(connection)
  return {
    db: new Kysely<Tables>({ dialect: readerDialect(connection) }),
    stamps: async () => storedStamps(connection, 0),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

/** Makes a new store in this file and fills it in one transaction, durably; what an earlier attempt left is removed. */
export const fillSqlite = async <T>(
  file: string,
  work: (target: MoveTarget) => Promise<T>,
): Promise<T> => {
  for (const old of databaseFiles(file)) rmSync(old, { force: true })
  createPrivateFile(file)
  const result = await fill(file, work)
  // Empty: all of it is in the database.
  for (const emptied of databaseFiles(file).slice(1)) rmSync(emptied, { force: true })
  syncPath(file)
  syncPath(dirname(file))
  return result
}

const fill = async <T>(file: string, work: (target: MoveTarget) => Promise<T>): Promise<T> => {
  using connection = new SqliteConnection(file, { readOnly: false })
  applyWriterSettings(connection)
  const db = new Kysely<Tables>({
    dialect: writerDialect(connection, new FifoMutex(), () => undefined),
  })
  await migrate(db, migrations(sqliteSchema), async () => {})
  const result = await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('service_clock').execute()
    return work({
      db: tx,
      keepsCopies: false,
      stamps: async () => storedStamps(connection, 0),
      async putStamps(stamps) {
        const batches = new LimitBatches(connection)
        for (let at = 0; at < stamps.length; at += stampsOfRow)
          for (const statement of batches.statements(stamps.slice(at, at + stampsOfRow), 0))
            connection.run(...statement)
      },
    })
  })
  const { rows } = connection.run('pragma wal_checkpoint(truncate)', [])
  if (rows[0]?.['busy'] !== 0) throw new Error(`${file} could not be completed`)
  return result
}
