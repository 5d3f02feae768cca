// Loaded by every command, so it loads nothing of the service: light-start.test.ts.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const recordFile = (dataDir: string): string => join(dataDir, 'store.json')

export const hasDatabase = (dataDir: string): boolean =>
  (statSync(join(dataDir, 'gatehouse.db'), { throwIfNoEntry: false })?.size ?? 0) > 0

/** Unlike `node-id`, the log is there only once a store was opened. */
export const hasLog = (dataDir: string): boolean => existsSync(join(dataDir, 'audit'))

/** Whether a service or a command has kept data here before. */
export const isInstalled = (dataDir: string): boolean =>
  existsSync(recordFile(dataDir)) || hasDatabase(dataDir) || hasLog(dataDir)
