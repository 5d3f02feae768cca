import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessStream } from '@gatehouse/contract'

const segmentBytes = 512 * 1024
const segmentsKept = 4

type Segment = { readonly file: string; readonly start: number; readonly size: number }

const nameOf = (stream: ProcessStream, start: number): string =>
  `${stream}.${String(start).padStart(16, '0')}`

/** Each file is named by the offset that it begins at, so that what is kept needs no index. */
const segmentsOf = async (folder: string, stream: ProcessStream): Promise<readonly Segment[]> => {
  const names = await readdir(folder).catch(() => [])
  const segments: Segment[] = []
  for (const name of names.filter((one) => one.startsWith(`${stream}.`)).toSorted()) {
    const file = join(folder, name)
    const found = await stat(file).catch(() => null)
    if (found)
      segments.push({ file, start: Number(name.slice(stream.length + 1)), size: found.size })
  }
  return segments
}

/** Keeps the last two mebibytes of a stream in files, whatever comes. */
export class Ring {
  readonly #folder: string
  readonly #stream: ProcessStream
  #handle: FileHandle | null = null
  #starts: number[] = []
  #total = 0

  constructor(folder: string, stream: ProcessStream) {
    this.#folder = folder
    this.#stream = stream
  }

  get total(): number {
    return this.#total
  }

  /** Raises what the disk says. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const start = this.#starts.at(-1)
      const used = start === undefined ? segmentBytes : this.#total - start
      if (!this.#handle || used >= segmentBytes) {
        await this.#next()
        continue
      }
      const part = bytes.subarray(at, at + segmentBytes - used)
      await this.#handle.writeFile(part)
      at += part.length
      this.#total += part.length
    }
  }

  async #next(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    this.#handle = await open(join(this.#folder, nameOf(this.#stream, this.#total)), 'ax', 0o600)
    this.#starts.push(this.#total)
    while (this.#starts.length > segmentsKept)
      await rm(join(this.#folder, nameOf(this.#stream, this.#starts.shift() as number)), {
        force: true,
      })
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
  }
}

/** Reads at most `limit` bytes from the offset, or from the first that is kept after it. */
export const readRing = async (
  folder: string,
  stream: ProcessStream,
  offset: number,
  limit: number,
): Promise<{
  readonly bytes: Uint8Array
  readonly offset: number
  readonly total_bytes: number
}> => {
  const segments = await segmentsOf(folder, stream)
  const last = segments.at(-1)
  const total_bytes = last ? last.start + last.size : 0
  const from = Math.min(Math.max(offset, segments[0]?.start ?? 0), total_bytes)
  const until = Math.min(from + limit, total_bytes)
  const parts: Uint8Array[] = []
  for (const { file, start, size } of segments) {
    const [first, end] = [Math.max(from, start), Math.min(until, start + size)]
    if (first >= end) continue
    const handle = await open(file, 'r')
    try {
      const room = new Uint8Array(end - first)
      const { bytesRead } = await handle.read(room, 0, room.length, first - start)
      parts.push(room.subarray(0, bytesRead))
    } finally {
      await handle.close()
    }
  }
  return { bytes: Buffer.concat(parts), offset: from, total_bytes }
}
