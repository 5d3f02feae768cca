import { createHash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { Files } from '../ports/files.ts'

/** Larger programs and scripts of an agent are refused (`FileTooLarge`): what is approved is copied. */
export const contentBytesMax = 64 * 1024 * 1024

export type Content = {
  readonly bytes: Buffer
  readonly sha256: string
  /** Where it is, links followed. */
  readonly at: string
}

/** A file of the agent, whole: what is hashed is what is later run, not what its path leads to by then. */
export const contentOf = async (files: Files, path: string): Promise<Content> => {
  const { bytes, size_bytes, truncated } = await files.read(path, { bytesMax: contentBytesMax })
  if (truncated)
    throw new GatehouseError('FileTooLarge', { path, size_bytes, limit_bytes: contentBytesMax })
  const at = files.locate(path).absolute
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), at }
}
