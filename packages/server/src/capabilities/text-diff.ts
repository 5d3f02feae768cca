import { createTwoFilesPatch } from 'diff'

/** Larger contents are described, not compared. */
export const diffBytesMax = 256 * 1024
const diffMs = 500

/** A unified diff of two texts; null when it would take too long to find. */
export const diffOf = (path: string, before: string, after: string, isNew = false): string | null =>
  createTwoFilesPatch(isNew ? '/dev/null' : path, path, before, after, undefined, undefined, {
    context: 3,
    timeout: diffMs,
  })?.replace(/^=+\n/, '') ?? null
