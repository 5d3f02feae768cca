import { createHash, hash } from 'node:crypto'
import { readSync } from 'node:fs'
import { pause } from './pause.ts'
import { chunkBytes, chunksOf, smallBytes } from './transfer.ts'

/** Of bytes in memory; a mebibyte at a time, so that nobody else waits long. */
export const digestOf = async (bytes: Uint8Array): Promise<string> => {
  if (bytes.length <= chunkBytes) return hash('sha256', bytes)
  const sum = createHash('sha256')
  for (let i = 0; i < bytes.length; i += chunkBytes) {
    sum.update(bytes.subarray(i, i + chunkBytes))
    await pause()
  }
  return sum.digest('hex')
}

/** Of a small open file, without giving way to anyone; null when it is not small. */
export const digestSmallFile = (fd: number, size: number): string | null => {
  if (size > smallBytes) return null
  const bytes = Buffer.allocUnsafe(size)
  return hash('sha256', bytes.subarray(0, readSync(fd, bytes, 0, size, 0)))
}

export const digestFile = async (fd: number, size: number): Promise<string> => {
  const small = digestSmallFile(fd, size)
  if (small !== null) return small
  const sum = createHash('sha256')
  for await (const chunk of chunksOf(fd)) sum.update(chunk)
  return sum.digest('hex')
}
