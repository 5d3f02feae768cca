import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { SqliteConnection } from './adapter.ts'
import { createPrivateFile } from './copy.ts'

/**
 * Held in a module variable: the lock is the connection's, and vanishes when the connection object is
 * garbage-collected. Nothing else may open that file, since closing any descriptor of it drops the lock.
 */
const held = new Map<string, SqliteConnection>()

/**
 * Takes the data directory for this process until disposed or the process ends, however it ends.
 * Raises `AlreadyRunning` with the pid that `holder` names.
 */
export const lockDataDirectory = (dataDir: string, holder: () => number | null): Disposable => {
  const file = join(dataDir, 'lock.db')
  createPrivateFile(file)
  if (held.has(file))
    throw new GatehouseError('AlreadyRunning', { pid: process.pid, data_dir: dataDir })
  const connection = new SqliteConnection(file, { readOnly: false })
  try {
    connection.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE')
  } catch (cause) {
    connection[Symbol.dispose]()
    throw new GatehouseError(
      'AlreadyRunning',
      { pid: holder() ?? 'unknown', data_dir: dataDir },
      { cause },
    )
  }
  held.set(file, connection)
  return {
    [Symbol.dispose]() {
      held.delete(file)
      connection[Symbol.dispose]()
    },
  }
}
