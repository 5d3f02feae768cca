import fs from 'node:fs'
import path from 'node:path'

export const trailFile = 'audit.trail'
const entryBytes = 8
const unknown = '0'.repeat(entryBytes * 2)

/**
 * The beginning of each chain hash, eight bytes an entry. It proves nothing: the mark does. But where
 * somebody changed an entry and recomputed every hash after it, this says which entry was the first.
 */
export interface Trail extends Disposable {
  /**
   * Notes the hashes of entries from a seq on, a moment later: no answer waits for it. Never throws: a trail
   * with holes is still useful.
   */
  note(from: number, rows: readonly { readonly hash: string }[]): void
}

/** Beginnings of hashes in hex, by seq; null where none was noted. */
export type ReadTrail = (seq: number) => string | null

type Noted = { readonly from: number; readonly rows: readonly { readonly hash: string }[] }

export const openTrail = (directory: string): Trail => {
  const fd = fs.openSync(
    path.join(directory, trailFile),
    fs.constants.O_RDWR | fs.constants.O_CREAT,
    0o600,
  )
  let waiting: Noted[] = []
  const write = () => {
    const noted = waiting
    waiting = []
    for (const { from, rows } of noted) {
      const bytes = Buffer.allocUnsafe(rows.length * entryBytes)
      for (let i = 0; i < rows.length; i++)
        bytes.write((rows[i] as { hash: string }).hash, i * entryBytes, entryBytes, 'hex')
      try {
        fs.writeSync(fd, bytes, 0, bytes.length, from * entryBytes)
      } catch {
        // A full disk is the store's to report.
      }
    }
  }
  return {
    note(from, rows) {
      if (waiting.push({ from, rows }) === 1) setImmediate(write)
    },
    [Symbol.dispose]() {
      write()
      fs.closeSync(fd)
    },
  }
}

/** Reads the part of the trail that a search needs. */
export const readTrail = (directory: string, from: number, to: number): ReadTrail => {
  const bytes = Buffer.alloc((to - from) * entryBytes)
  try {
    const fd = fs.openSync(path.join(directory, trailFile), 'r')
    try {
      fs.readSync(fd, bytes, 0, bytes.length, from * entryBytes)
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    return () => null
  }
  return (seq) => {
    const at = (seq - from) * entryBytes
    const text = bytes.toString('hex', at, at + entryBytes)
    return text === unknown || text.length < entryBytes * 2 ? null : text
  }
}
