import { readSync, type Stats } from 'node:fs'
import { failure } from './failure.ts'
import { statPath } from './look.ts'
import { letGo, type Opened, openFile, retryingStale } from './open.ts'
import type { Roots } from './roots.ts'
import { readInto, smallBytes } from './transfer.ts'
import { walkTo } from './walk.ts'

export type ReadOptions = {
  readonly offset?: number
  readonly limit?: number
  readonly bytesMax: number
}

export type ReadResult = {
  readonly bytes: Buffer
  readonly size_bytes: number
  readonly modified_at: string
  readonly truncated: boolean
}

/** Result of a read, with what is known of the whole file. */
const told = ({ size, mtime }: Stats, offset: number, room: Buffer, got: number): ReadResult => ({
  bytes: got === room.length ? room : room.subarray(0, got),
  size_bytes: size,
  modified_at: mtime.toISOString(),
  truncated: offset + got < size,
})

const readLarge = async (
  { fd, stat }: Opened,
  path: string,
  offset: number,
  room: Buffer,
): Promise<ReadResult> => {
  try {
    return told(stat, offset, room, await readInto(fd, room, offset))
  } catch (error) {
    throw failure(error, path)
  } finally {
    letGo(fd)
  }
}

/** Fills the room from a position of an open file; a network file system may give less at a time. */
const readSmall = (fd: number, room: Buffer, offset: number): number => {
  for (let got = 0; ; ) {
    const more = got < room.length ? readSync(fd, room, got, room.length - got, offset + got) : 0
    if (more === 0) return got
    got += more
  }
}

/** The hot path: one open for each folder, then open, fstat, read, close, and no promise when small. */
export const readFile = (
  roots: Roots,
  path: string,
  options: ReadOptions,
  denyHardlinks: boolean,
): ReadResult | Promise<ReadResult> =>
  retryingStale(
    () => readOnce(roots, path, options, denyHardlinks),
    () => statPath(roots, path),
  )

const readOnce = (
  roots: Roots,
  path: string,
  options: ReadOptions,
  denyHardlinks: boolean,
): ReadResult | Promise<ReadResult> => {
  const walk = walkTo(roots, path, 'read')
  let opened: Opened
  try {
    opened = openFile(walk, path, denyHardlinks)
  } finally {
    walk[Symbol.dispose]()
  }
  const { fd, stat } = opened
  const offset = Math.min(options.offset ?? 0, stat.size)
  const wanted = Math.min(stat.size - offset, options.limit ?? stat.size, options.bytesMax)
  const room = Buffer.allocUnsafe(wanted)
  if (wanted > smallBytes) return readLarge(opened, path, offset, room)
  try {
    return told(stat, offset, room, readSmall(fd, room, offset))
  } catch (error) {
    throw failure(error, path)
  } finally {
    letGo(fd)
  }
}
