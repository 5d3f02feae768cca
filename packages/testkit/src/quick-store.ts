import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '@gatehouse/server/ports/storage'
import { SqliteConnection } from '@gatehouse/server/storage/sqlite/adapter'
import { openSqlite } from '@gatehouse/server/storage/sqlite/open'

/** A folder in memory where this system has one: a store syncs each commit, and tests need not wait for a disk. */
const quickFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const makeFolder = () => {
  const path = mkdtempSync(join(quickFolder, 'gatehouse-store-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const migrated = async (): Promise<Buffer> => {
  using folder = makeFolder()
  const file = join(folder.path, 'gatehouse.db')
  await (await openSqlite({ file }))[Symbol.asyncDispose]()
  using connection = new SqliteConnection(file, { readOnly: false })
  // What was written last is in the WAL until then.
  connection.run('pragma wal_checkpoint(truncate)', [])
  return readFileSync(file)
}

/** Migrating takes longer than many a test, so each process does it once. */
let template: Promise<Buffer> | null = null

/** The file of a new store, migrated and empty, gone with its folder when disposed. */
export const createStoreFile = async (): Promise<Disposable & { readonly file: string }> => {
  template ??= migrated()
  const bytes = await template
  const folder = makeFolder()
  const file = join(folder.path, 'gatehouse.db')
  writeFileSync(file, bytes, { mode: 0o600 })
  return { file, [Symbol.dispose]: folder[Symbol.dispose] }
}

/** A new store for one test, gone when disposed. */
export const openQuickStore = async (): Promise<Storage> => {
  const stored = await createStoreFile()
  const storage = await openSqlite(stored)
  return {
    ...storage,
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]()
      stored[Symbol.dispose]()
    },
  }
}
