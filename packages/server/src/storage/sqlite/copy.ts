import { chmodSync, closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SqliteConnection } from './adapter.ts'

export const syncPath = (path: string): void => {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes durable which names the folder of this file has. */
export const syncFolderOf = (file: string): void => syncPath(dirname(file))

/** Makes sure that the file exists and only its owner may read it; SQLite's own files inherit that. */
export const createPrivateFile = (file: string): void => {
  if (existsSync(file)) return
  closeSync(openSync(file, 'a', 0o600))
}

/** Copies the whole store, durably, beside itself, and returns where. */
export const copyBeforeMigration = (connection: SqliteConnection, migration: string): string => {
  const copy = `${connection.file}.before-${migration}`
  // An attempt that was cut short may have left half a copy; the store itself is still unchanged.
  rmSync(copy, { force: true })
  createPrivateFile(copy)
  chmodSync(copy, 0o600)
  connection.run('vacuum into ?', [copy])
  syncPath(copy)
  syncFolderOf(copy)
  return copy
}
