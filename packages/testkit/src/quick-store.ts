import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Storage } from '@gatehouse/server/ports/storage'
import { openSqlite } from '@gatehouse/server/storage/sqlite/open'
import { memoryOfFile } from './test-folders.ts'

/** A new folder in memory, gone with all in it when disposed. */
export const makeQuickFolder = (place = memoryOfFile()): Disposable & { readonly path: string } => {
  const path = realpathSync(mkdtempSync(join(place, 'gatehouse-')))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const migrated = async (): Promise<Buffer> => {
  using folder = makeQuickFolder()
  const file = join(folder.path, 'gatehouse.db')
  await (await openSqlite({ file }))[Symbol.asyncDispose]()
  return readFileSync(file)
}

/** Migrating takes longer than many a test, so each process does it once. */
let template: Promise<Buffer> | null = null

/** Puts the file of a new store into this folder: migrated and empty. Returns where. */
export const putStore = async (folder: string): Promise<string> => {
  template ??= migrated()
  const file = join(folder, 'gatehouse.db')
  writeFileSync(file, await template, { mode: 0o600 })
  return file
}

/** A new store for one test, gone when disposed. */
export const openQuickStore = async (): Promise<Storage> => {
  const folder = makeQuickFolder()
  const storage = await openSqlite({ file: await putStore(folder.path) })
  return {
    ...storage,
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
