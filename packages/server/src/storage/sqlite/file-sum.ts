import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { failure } from './adapter.ts'
import { syncFolderOf } from './copy.ts'

const pieceBytes = 1024 * 1024

/** Beside the database, in the form of `sha256sum`. */
const sumFileOf = (file: string): string => `${file}.sha256`

const hashFile = (file: string): string => {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(pieceBytes)
  const fd = openSync(file, 'r')
  try {
    for (let read = 1; read > 0; ) {
      read = readSync(fd, piece, 0, pieceBytes, null)
      hash.update(piece.subarray(0, read))
    }
  } finally {
    closeSync(fd)
  }
  return hash.digest('hex')
}

const isEmptyOrGone = (file: string): boolean =>
  (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0

/** SQLite has checksums in the WAL and none in the database: a flipped bit in a row is just another value. */
const refuse = (file: string): never => {
  const sum = sumFileOf(file)
  const detail = `${basename(file)}: it is not as the service left it, by ${basename(sum)}`
  throw new GatehouseError(
    'StorageUnavailable',
    { detail },
    {
      recovery: [
        {
          action: 'restore a backup',
          description: 'The disk or another program changed the database while nothing ran.',
        },
        {
          action: `rm ${sum}`,
          description: 'Start with the database as it is, if you changed it on purpose.',
        },
      ],
    },
  )
}

/**
 * @SECURITY Damage of a database at rest is never served as data; sqlite.test.ts. A database without a sum was not
 * closed in order, or is older than sums.
 */
export const assertFileSum = (file: string): void => {
  const sum = sumFileOf(file)
  if (!existsSync(sum)) return
  const expected = `${hashFile(file)}  ${basename(file)}\n`
  if (!isEmptyOrGone(`${file}-wal`) || readFileSync(sum, 'latin1') !== expected) refuse(file)
}

/** Durable before anything is written: the sum must never outlive what it is the sum of. */
export const removeFileSum = (file: string): void => {
  if (!existsSync(sumFileOf(file))) return
  try {
    rmSync(sumFileOf(file))
    syncFolderOf(file)
  } catch (cause) {
    throw failure(cause, file)
  }
}

/** Of a database that nobody has open any more, and all of which is in the one file. None where it cannot be written. */
export const writeFileSum = (file: string): void => {
  if (!isEmptyOrGone(`${file}-wal`)) return
  const unfinished = `${sumFileOf(file)}.new`
  try {
    const fd = openSync(unfinished, 'w', 0o600)
    try {
      writeSync(fd, `${hashFile(file)}  ${basename(file)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(unfinished, sumFileOf(file))
  } catch {
    rmSync(unfinished, { force: true })
  }
}
