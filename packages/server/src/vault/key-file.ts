import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

const line = /^gatehouse-vault-key-v1 ([0-9a-f]{64})$/

/** More than the present and the next are only in a backup that was made during changes. */
const keysMax = 8

export type KeyFile =
  | { readonly kind: 'keys'; readonly keys: readonly Buffer[] }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string; readonly remedy: string }

/** Names a key without telling anything of it. */
export const keyId = (key: Uint8Array): string =>
  createHash('sha256').update('gatehouse-vault-key-id\0').update(key).digest('hex').slice(0, 16)

/**
 * The keys of a key file, the present one and, in the middle of a change, the next.
 * @SECURITY A file that others can read or that belongs to somebody else is refused; key-file.test.ts.
 */
export function readKeyFile(file: string): KeyFile {
  const refused = (reason: string, remedy: string): KeyFile => ({ kind: 'refused', reason, remedy })
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    return code === 'ENOENT'
      ? { kind: 'absent' }
      : refused(`${file} cannot be opened (${code})`, `make ${file} a file that only you can read`)
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile())
      return refused(`${file} is no regular file`, 'put the key file in its place')
    if (process.getuid && stat.uid !== process.getuid())
      return refused(`${file} belongs to another user`, `chown it to the user of the service`)
    if ((stat.mode & 0o077) !== 0)
      return refused(`${file} can be read by others`, `run: chmod 600 ${file}`)
    const lines = readFileSync(descriptor, 'utf8').split('\n').filter(Boolean)
    const keys = lines.map((text) => line.exec(text)?.[1])
    if (keys.length === 0 || keys.length > keysMax || keys.includes(undefined))
      return refused(`${file} is damaged`, 'restore it from a backup')
    return { kind: 'keys', keys: keys.map((hex) => Buffer.from(hex as string, 'hex')) }
  } finally {
    closeSync(descriptor)
  }
}

const syncFolder = (file: string): void => {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Whole or not at all, and on the disk when it returns. */
export function writeKeyFile(file: string, keys: readonly Uint8Array[]): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    for (const key of keys)
      writeSync(descriptor, `gatehouse-vault-key-v1 ${Buffer.from(key).toString('hex')}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
  syncFolder(file)
}

export function removeKeyFile(file: string): void {
  rmSync(file, { force: true })
  syncFolder(file)
}
