import type { MetaStore } from '../ports/storage.ts'
import type { Keys } from './keys.ts'
import { type Mark, unsealMark } from './mark.ts'

/** Where the store keeps the sealed state of a chain, written in the transaction of the rows that it covers. */
export const storedKey = (chain: string): string => `audit.sealed.${chain}`

/** The sealed state beside the rows, where this service sealed it for this chain. */
export const readStoredMark = async (
  meta: Pick<MetaStore, 'get'>,
  chain: string,
  keys: Keys,
): Promise<Mark | null> => {
  const content = await meta.get(storedKey(chain))
  const mark = content === null ? null : unsealMark(content, keys)
  return mark?.chain === chain ? mark : null
}

/**
 * The sealed state that reaches further: a crash can come after a commit and before the file has its mark. What
 * was found before stays found.
 */
export const newerOf = (file: Mark | null, stored: Mark | null): Mark | null => {
  if (!file || !stored) return file ?? stored
  if (stored.size <= file.size) return file
  const count = Math.max(file.count, stored.count)
  return { ...stored, count, alarm: file.alarm ?? stored.alarm }
}
