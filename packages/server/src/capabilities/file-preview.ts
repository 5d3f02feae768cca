import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { GatehouseError, type Preview } from '@gatehouse/contract'
import type { Files } from '../ports/files.ts'
import { diffBytesMax, diffOf } from './text-diff.ts'

/** Text by the rule that grep and git use: no NUL near the beginning. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8192).includes(0)

const isSmallText = (bytes: Buffer): boolean =>
  bytes.length <= diffBytesMax && !isBinary(bytes) && isUtf8(bytes)

const describe = (bytes: Buffer): string =>
  `${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`

/** Content at a path now, as far as a diff needs it; null when there is none. */
export const contentBefore = async (files: Files, path: string): Promise<Buffer | null> => {
  try {
    return (await files.read(path, { bytesMax: diffBytesMax + 1 })).bytes
  } catch (error) {
    if (error instanceof GatehouseError && error.type === 'FileNotFound') return null
    throw error
  }
}

type DiffPreview = Extract<Preview, { kind: 'diff' }>

/** The whole change: every line where both sides are small text, otherwise sizes and digests. */
export const changePreview = (path: string, before: Buffer | null, after: Buffer): DiffPreview => {
  if (isSmallText(after) && (before === null || isSmallText(before))) {
    const diff = diffOf(path, before?.toString() ?? '', after.toString(), before === null)
    if (diff !== null) return { kind: 'diff', path, text: diff }
  }
  const was = before === null ? 'nothing' : describe(before)
  const cut = before !== null && before.length > diffBytesMax ? ' (its beginning)' : ''
  return {
    kind: 'diff',
    path,
    text: `--- ${path}: ${was}${cut}\n+++ ${path}: ${describe(after)}\n`,
  }
}
