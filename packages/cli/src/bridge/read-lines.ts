/** A line of the input, without its end; null for one that is longer than may be. */
export type Line = Buffer | null

const lineFeed = 0x0a
const carriageReturn = 0x0d

const withoutReturn = (line: Buffer): Buffer =>
  line.at(-1) === carriageReturn ? line.subarray(0, -1) : line

/** Lines of the input, by `\n` or `\r\n`. Empty lines are left out, and a long one takes no memory. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size > bytesMax) parts = []
    else parts.push(part)
  }
  const take = (): Line => {
    const line = size > bytesMax ? null : withoutReturn(Buffer.concat(parts))
    parts = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      start = end + 1
      const line = take()
      if (line === null || line.length > 0) yield line
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  const last = take()
  if (last === null || last.length > 0) yield last
}
