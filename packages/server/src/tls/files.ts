import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Pair } from './issue.ts'
import type { Found } from './judge.ts'

export type PairFiles = { readonly cert: string; readonly key: string }

export const authorityFiles = (directory: string): PairFiles => ({
  cert: join(directory, 'ca.pem'),
  key: join(directory, 'ca-key.pem'),
})

export const leafFiles = (directory: string): PairFiles => ({
  cert: join(directory, 'cert.pem'),
  key: join(directory, 'key.pem'),
})

const readOrNull = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

export const readPair = ({ cert, key }: PairFiles): Found => ({
  cert: readOrNull(cert),
  key: readOrNull(key),
})

const sync = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Whole or not at all, and for nobody else to read. */
const writePrivate = (file: string, text: string): void => {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
}

/** The key first: a crash between the two leaves a mismatch, which the next start repairs. */
export function writePair(files: PairFiles, { cert, key }: Pair): void {
  mkdirSync(dirname(files.key), { recursive: true, mode: 0o700 })
  writePrivate(files.key, key)
  writePrivate(files.cert, cert)
  if (process.platform !== 'win32') sync(dirname(files.key), 'r')
}

/** @SECURITY Keys that others could read are closed to them again; certificates.test.ts. */
export function closeToOthers({ cert, key }: PairFiles): void {
  for (const file of [cert, key])
    try {
      if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
    } catch {
      // The file is missing, and will be made.
    }
}

/** Changes when either file does, also by way of a link. */
export function stampOf({ cert, key }: PairFiles): string {
  const of = (file: string) => {
    try {
      const { ino, size, mtimeMs } = statSync(file)
      return `${ino} ${size} ${mtimeMs}`
    } catch {
      return 'none'
    }
  }
  return `${of(cert)} ${of(key)}`
}
