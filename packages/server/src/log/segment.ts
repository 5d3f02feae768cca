import fs from 'node:fs'
import { type FrameHead, headBytes, isIntact, macBytes, nextHead, readHead } from './frame.ts'

/** A frame whose place in its segment is known. */
export type Placed = FrameHead & { readonly at: number }

/** Frames begin here; before them stands what the segment is about, for people and for exports. */
export const dataAt = 4096

/** The bytes of a file from a place on; none where there is no file. */
export const readAt = (file: string, at: number, length: number): Buffer => {
  let fd: number
  try {
    fd = fs.openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
  try {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, fs.fstatSync(fd).size - at)))
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, at))
  } finally {
    fs.closeSync(fd)
  }
}

/** Whether this is no more than a crash left of a last write: its end is not there, and nothing follows it. */
const isTorn = (bytes: Buffer, at: number, head: FrameHead): boolean => {
  const end = at + head.bytes
  if (end > bytes.length) return true
  const isUnwritten = bytes.subarray(end - macBytes, end).every((byte) => byte === 0)
  return isUnwritten && !isIntact(bytes.subarray(at, end), head) && nextHead(bytes, end) < 0
}

/** The frames in the bytes of a segment, in their order. Damage between them is passed over. */
export const scan = (bytes: Buffer): Placed[] => {
  const frames: Placed[] = []
  for (let at = dataAt; at + headBytes <= bytes.length; ) {
    const head = readHead(bytes, at)
    if (head && !isTorn(bytes, at, head)) {
      frames.push({ ...head, at })
      at += head.bytes
      continue
    }
    // Zeros follow the last frame: what was allocated and not yet written.
    if (bytes.readUInt32LE(at) === 0 && nextHead(bytes, at) < 0) break
    const next = nextHead(bytes, at + 1)
    if (next < 0) break
    at = next
  }
  return frames
}

/** Bytes behind the last frame that are no frame: what a crash left of a write, or what somebody put there. */
export type Residue = {
  readonly at: number
  /** From the first byte that is not zero to the last one. */
  readonly length: number
  /** The first of them. */
  readonly bytes: Buffer
}

/** So much of a residue is kept: more than nearly every write has. */
const residueMax = 64 * 1024
const zeros = Buffer.alloc(64 * 1024)

const endOf = (frames: readonly Placed[]): number => {
  const last = frames.at(-1)
  return last ? last.at + last.bytes : dataAt
}

const residueOf = (bytes: Buffer, from: number): Residue | null => {
  let [first, last] = [-1, -1]
  for (let at = from; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length)
    if (piece.compare(zeros, 0, piece.length) === 0) continue
    if (first < 0) first = at + piece.findIndex((byte) => byte !== 0)
    last = at + piece.findLastIndex((byte) => byte !== 0)
  }
  if (first < 0) return null
  const end = Math.min(last + 1, first + residueMax)
  return { at: first, length: last + 1 - first, bytes: Buffer.from(bytes.subarray(first, end)) }
}

/** One file of the log, as it is read. Its frames are looked for once; what is appended later is added. */
export class Segment {
  readonly file: string
  readonly first: number
  #frames: Placed[] | null
  #residue: Residue | null = null

  constructor(file: string, first: number, frames: Placed[] | null = null) {
    this.file = file
    this.first = first
    this.#frames = frames
  }

  get frames(): readonly Placed[] {
    return (this.#frames ??= this.#scan())
  }

  /** Where the last frame ends. */
  get end(): number {
    return endOf(this.frames)
  }

  /** What lay behind the last frame when the file was read. */
  get residue(): Residue | null {
    this.#frames ??= this.#scan()
    return this.#residue
  }

  /** It was taken away. */
  forgetResidue(): void {
    this.#residue = null
  }

  add(frame: Placed): void {
    this.#frames?.push(frame)
  }

  /** Frames are looked for anew when they are next asked for. */
  forget(): void {
    this.#frames = null
  }

  #scan(): Placed[] {
    const bytes = readAt(this.file, 0, Number.MAX_SAFE_INTEGER)
    const frames = scan(bytes)
    this.#residue = residueOf(bytes, endOf(frames))
    return frames
  }

  /** The place in `frames` of the first one that holds this entry or a later one. */
  indexOf(seq: number): number {
    const { frames } = this
    let [low, high] = [0, frames.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const { first, count } = frames[middle] as Placed
      if (first + count <= seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
