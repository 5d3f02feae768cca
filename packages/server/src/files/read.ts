import { closeSync, readSync } from 'node:fs'
import { failure } from './failure.ts'
import { openFile } from './open.ts'
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

/** This is the hot path: one open for each folder, then open, fstat, read, close, and no await when small. */
export const readFile = async (
  roots: Roots,
  path: string,
  options: ReadOptions,
  denyHardlinks: boolean,
): Promise<ReadResult> => {
  const walk = walkTo(roots, path, 'read')
  let opened: ReturnType<typeof openFile>
  try {
    opened = openFile(walk, path, denyHardlinks)
  } finally {
    walk[Symbol.dispose]()
  }
  const { fd, stat } = opened
  try {
    const offset = Math.min(options.offset ?? 0, stat.size)
    const wanted = Math.min(stat.size - offset, options.limit ?? stat.size, options.bytesMax)
    const room = Buffer.allocUnsafe(wanted)
    const got =
      wanted === 0
        ? 0
        : wanted <= smallBytes
          ? readSync(fd, room, 0, wanted, offset)
          : await readInto(fd, room, offset)
    return {
      bytes: got === wanted ? room : room.subarray(0, got),
      size_bytes: stat.size,
      modified_at: stat.mtime.toISOString(),
      truncated: offset + got < stat.size,
    }
  } catch (error) {
    throw failure(error, path)
  } finally {
    closeSync(fd)
  }
}
