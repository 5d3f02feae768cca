import { platform } from 'node:process'
import { GatehouseError } from '@gatehouse/contract'
import type { SqliteConnection } from './adapter.ts'

type Setting = { readonly pragma: string; readonly value: number | string }

const shared: readonly Setting[] = [
  // @SECURITY A schema that someone has edited must not run functions of ours; sqlite.test.ts.
  { pragma: 'trusted_schema', value: 0 },
  { pragma: 'cell_size_check', value: 1 },
  // KiB, negative by SQLite's convention.
  { pragma: 'cache_size', value: -16_384 },
  { pragma: 'temp_store', value: 2 },
]

const busyMs = 5_000

/** Set in this order, then read back: a setting that did not take is a promise we could not keep. */
const ofWriter: readonly Setting[] = [
  { pragma: 'journal_mode', value: 'wal' },
  // @SECURITY FULL is our promise that an answered call is on disk; sqlite.test.ts.
  { pragma: 'synchronous', value: 2 },
  { pragma: 'foreign_keys', value: 1 },
  // Pages. A checkpoint is what the slowest commits wait for, so many small ones.
  // A commit writes some 16 pages, mostly the same ones again: the rarer a checkpoint, the fewer pages it
  // moves for each commit, and the longer it holds up the one that meets it.
  { pragma: 'wal_autocheckpoint', value: 1000 },
  ...(platform === 'darwin' ? [{ pragma: 'fullfsync', value: 1 }] : []),
]

const assertSettings = (connection: SqliteConnection, settings: readonly Setting[]): void => {
  for (const { pragma, value } of settings) {
    const found = connection.value(`pragma ${pragma}`)
    if (String(found) !== String(value))
      throw new GatehouseError('StorageUnavailable', {
        detail: `${connection.file}: SQLite runs with ${pragma} = ${String(found)}, and ${value} is needed.`,
      })
  }
}

const apply = (connection: SqliteConnection, settings: readonly Setting[]): void => {
  for (const { pragma, value } of settings) connection.exec(`pragma ${pragma} = ${value}`)
  assertSettings(connection, settings)
}

const waiting = (ms: number): Setting => ({ pragma: 'busy_timeout', value: ms })

/** `waitMs`: how long this thread stands still for the change of another process. */
export const applyWriterSettings = (connection: SqliteConnection, waitMs = busyMs): void =>
  apply(connection, [...shared, waiting(waitMs), ...ofWriter])

export const applyReaderSettings = (connection: SqliteConnection): void =>
  apply(connection, [...shared, waiting(busyMs)])

/** Refuses a connection whose settings have been changed since. */
export const assertWriterSettings = (connection: SqliteConnection): void =>
  assertSettings(connection, [...shared, waiting(busyMs), ...ofWriter])
