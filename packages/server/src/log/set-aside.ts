import fs from 'node:fs'
import path from 'node:path'
import type { Clock } from '../ports/clock.ts'

export const setAsideFile = 'set-aside.jsonl'

/** Keeps what somebody else put into the log or its index, as a line each; on the disk when it returns. */
export type SetAside = (rows: readonly object[]) => void

export const createSetAside =
  (directory: string, clock: Pick<Clock, 'wall'>): SetAside =>
  (rows) => {
    const found_at = new Date(clock.wall()).toISOString()
    const fd = fs.openSync(path.join(directory, setAsideFile), 'a', 0o600)
    try {
      fs.writeSync(fd, rows.map((row) => `${JSON.stringify({ found_at, ...row })}\n`).join(''))
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
