import { fsync, read, write } from 'node:fs'
import { promisify } from 'node:util'

/** Up to here a file is read and written at once: that costs less than a trip through the thread pool. */
export const smallBytes = 64 * 1024
export const chunkBytes = 1024 * 1024

const readAt = promisify(read)
const writeAt = promisify(write)
export const fsyncOf = promisify(fsync)

/** Fills `bytes` from a position of an open file; returns how much there was. */
export const readInto = async (
  fd: number,
  bytes: Uint8Array,
  position: number,
): Promise<number> => {
  let filled = 0
  while (filled < bytes.length) {
    const length = Math.min(chunkBytes, bytes.length - filled)
    const { bytesRead } = await readAt(fd, bytes, filled, length, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

/** Writes all of it where the file stands; `told` hears how much of it is written. */
export const writeAll = async (
  fd: number,
  bytes: Uint8Array,
  told: (done: number) => void = () => {},
): Promise<void> => {
  let done = 0
  while (done < bytes.length) {
    const length = Math.min(chunkBytes, bytes.length - done)
    const { bytesWritten } = await writeAt(fd, bytes, done, length)
    done += bytesWritten
    told(done)
  }
}

/** Yields an open file chunk by chunk, from its beginning; the chunk's memory is used again for the next. */
export async function* chunksOf(fd: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = 0
  for (;;) {
    const { bytesRead } = await readAt(fd, buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
