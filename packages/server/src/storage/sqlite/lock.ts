import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { isBusy, SqliteConnection } from './adapter.ts'
import { createPrivateFile } from './copy.ts'

/** How long to wait for a command, which has the data for a moment only. */
const waitMs = 5_000

/**
 * Held in a module variable: the lock is the connection's, and vanishes when the connection object is
 * garbage-collected. Nothing else may open that file, since closing any descriptor of it drops the lock.
 */
const held = new Map<string, SqliteConnection>()

export const lockFile = (dataDir: string): string => join(dataDir, 'lock.db')

const inUse = (dataDir: string, pid: number | null, cause?: unknown): GatehouseError =>
  new GatehouseError(
    'AlreadyRunning',
    { holder: pid === null ? 'Another process' : `Process ${pid}`, data_dir: dataDir },
    { cause },
  )

const open = (file: string, timeoutMs: number): SqliteConnection => {
  const connection = new SqliteConnection(file, { readOnly: false, timeoutMs })
  try {
    connection.exec('PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE')
    return connection
  } catch (cause) {
    connection[Symbol.dispose]()
    throw cause
  }
}

/**
 * Takes the data directory for this process until disposed or the process ends, however it ends. Raises
 * `AlreadyRunning` with the pid that `holder` names; waits a moment where it names none, since a server says who
 * it is and a command ends soon.
 */
export const lockDataDirectory = (dataDir: string, holder: () => number | null): Disposable => {
  const file = lockFile(dataDir)
  createPrivateFile(file)
  if (held.has(file)) throw inUse(dataDir, process.pid)
  let connection: SqliteConnection
  try {
    connection = open(file, holder() === null ? waitMs : 0)
  } catch (cause) {
    if (!isBusy(cause)) throw cause
    throw inUse(dataDir, holder(), cause)
  }
  held.set(file, connection)
  return {
    [Symbol.dispose]() {
      held.delete(file)
      // Statements that are not yet collected keep a closed connection, and with it the lock.
      connection.rollback()
      connection[Symbol.dispose]()
    },
  }
}
