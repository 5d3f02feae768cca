import fs from 'node:fs'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'

export const readIfThere = (file: string): Buffer | null => {
  try {
    return fs.readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The last bytes of a file; null where there is none. */
export const readEnd = (file: string, bytesMax: number): Buffer | null => {
  let fd: number
  try {
    fd = fs.openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const bytes = Buffer.alloc(bytesMax)
    const from = Math.max(0, fs.fstatSync(fd).size - bytesMax)
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytesMax, from))
  } finally {
    fs.closeSync(fd)
  }
}

/** Names that were made or taken away in a folder are on the disk when this returns. */
export const syncFolder = (name: string): void => {
  const folder = fs.openSync(name, 'r')
  try {
    fs.fsyncSync(folder)
  } finally {
    fs.closeSync(folder)
  }
}

/** Writes a new file whole and durably, or not at all. */
export const writeNew = (file: string, content: string | Uint8Array, mode: number): void => {
  const temporary = `${file}.new`
  fs.rmSync(temporary, { force: true })
  const fd = fs.openSync(temporary, 'wx', mode)
  try {
    fs.writeFileSync(fd, content)
    fs.fchmodSync(fd, mode)
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
  fs.renameSync(temporary, file)
  syncFolder(path.dirname(file))
}

/** A secret that others on the machine can read is not one. */
export const assertPrivate = (file: string): void => {
  if ((fs.statSync(file).mode & 0o077) === 0) return
  throw new GatehouseError('InvalidConfiguration', {
    origin: file,
    detail: 'others can read this key; run `chmod 400` on it',
  })
}
