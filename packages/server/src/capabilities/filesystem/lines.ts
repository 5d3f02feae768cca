import { setImmediate } from 'node:timers/promises'

const linesPerSlice = 5_000

/** The lines of a file without their ends, in slices so that nobody else waits long. */
export const linesOf = async (bytes: Buffer): Promise<string[]> => {
  const lines: string[] = []
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(10, start)
    const end = found < 0 ? bytes.length : found
    // A last line that is empty is the end of the one before it.
    if (found < 0 && start === bytes.length && lines.length > 0) break
    lines.push(bytes.toString('utf8', start, bytes[end - 1] === 13 && end > start ? end - 1 : end))
    start = end + 1
    if (lines.length % linesPerSlice === 0) await setImmediate()
  }
  return lines
}

const shownMax = 500

/** A line cut to what a reader needs of it, around the match. */
export const shownLine = (line: string, start = 0): string => {
  if (line.length <= shownMax) return line
  const from = Math.max(0, Math.min(start - 100, line.length - shownMax))
  const to = from + shownMax
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}
