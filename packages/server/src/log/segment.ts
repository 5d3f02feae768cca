import fs from 'node:fs'
import { type FrameHead, headBytes, isIntact, macBytes, nextHead, readHead } from './frame.ts'

/** A frame whose place in its segment is known. */
export type Placed = FrameHead & { readonly at: number }

/** Frames begin here; before them stands what the segment is about, for people and for exports. */
export const dataAt = 4096
const newline = '\n'

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

const endOf = (frames: readonly Placed[]): number => {
  const last = frames.at(-1)
  return last ? last.at + last.bytes : dataAt
}

/** Bytes that are read for the next frame of a log that grows. */
const growBytes = 64 * 1024

/** Whether this is no more than a crash left of a last write: its end is not there, and nothing follows it. */
const isTorn = (bytes: Buffer, at: number, head: FrameHead): boolean => {
  const end = at + head.bytes
  if (end > bytes.length) return true
  const isUnwritten = bytes.subarray(end - macBytes, end).every((byte) => byte === 0)
  return isUnwritten && !isIntact(bytes.subarray(at, end), head) && nextHead(bytes, end) < 0
}

/** Bytes of a segment that are not as they were written, and that no entry has to show. */
export type Flaw = {
  readonly file: string
  readonly at: number
  /** The entry that they are in, or the one beside them. */
  readonly seq: number
  /** Where they are in one of several entries, the number behind the last of these. */
  readonly through?: number
  readonly what: string
}

type Scan = { readonly frames: Placed[]; readonly flaws: readonly Omit<Flaw, 'file'>[] }

/** Entries of a frame stand on a line each, behind the one of its note. */
const hasItsLines = (frame: Buffer, { count }: FrameHead): boolean => {
  const end = frame.length - macBytes
  let lines = 0
  for (let at = frame.indexOf(newline, headBytes); at >= 0 && at < end; lines += 1)
    at = frame.indexOf(newline, at + 1)
  return count > 0 && lines === count
}

const flawOf = (frame: Buffer, head: FrameHead): string | null => {
  if (!isIntact(frame, head)) return 'the frame is not as it was written'
  if (!hasItsLines(frame, head)) return 'the frame has other entries than it says'
  return null
}

/**
 * The frames in the bytes of a segment, in their order.
 * @SECURITY every byte before the end of the last frame is of a frame or of the header, and what is not is a flaw:
 * bytes that belong to nothing would otherwise verify with the rest; segment.test.ts.
 */
export const scan = (bytes: Buffer, from = dataAt): Scan => {
  const frames: Placed[] = []
  const flaws: Omit<Flaw, 'file'>[] = []
  for (let at = from; at + headBytes <= bytes.length; ) {
    const head = readHead(bytes, at)
    if (head && !isTorn(bytes, at, head)) {
      const end = frames.length > 0 ? endOf(frames) : from
      if (end < at)
        flaws.push({ at: end, seq: head.first, what: `${at - end} bytes belong to no frame` })
      const what = flawOf(bytes.subarray(at, at + head.bytes), head)
      const through = head.first + head.count
      if (what !== null) flaws.push({ at, seq: head.first, through, what })
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
  return { frames, flaws }
}

/** Header of a segment, before its first frame. */
export type SegmentHeader = {
  readonly format: 'gatehouse-log-v1'
  readonly chain: string
  readonly first: number
  /** Head and root of the log before its first entry. */
  readonly head: string
  readonly root: string
}

export const encodeHeader = (header: SegmentHeader): Buffer => {
  const bytes = Buffer.alloc(dataAt, newline)
  bytes.write(JSON.stringify(header))
  return bytes
}

/** Null where the bytes before the first frame are others than `encodeHeader` writes. */
export const readHeader = (bytes: Buffer): SegmentHeader | null => {
  try {
    const [line = ''] = bytes.toString('utf8', 0, dataAt).split('\n')
    const { format, chain, first, head, root } = JSON.parse(line) as SegmentHeader
    const header = { format, chain, first, head, root }
    return encodeHeader(header).equals(bytes.subarray(0, dataAt)) ? header : null
  } catch {
    return null
  }
}

/** Bytes behind the last frame that are no frame: what a crash left of a write, or what somebody put there. */
export type Residue = {
  readonly at: number
  /** From the first byte that is not zero to the last one. */
  readonly length: number
  /** The first of them. */
  readonly bytes: Buffer
}

/** Bytes of a residue that are kept: more than nearly every write has. */
const residueMax = 64 * 1024
const zeros = Buffer.alloc(64 * 1024)

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
  #flaws: readonly Flaw[] = []
  #residue: Residue | null = null

  constructor(file: string, first: number, frames: Placed[] | null = null) {
    this.file = file
    this.first = first
    this.#frames = frames
  }

  get frames(): readonly Placed[] {
    return (this.#frames ??= this.#scan())
  }

  /** Bytes up to the end of the last frame that were not written so. */
  get flaws(): readonly Flaw[] {
    this.#frames ??= this.#scan()
    return this.#flaws
  }

  /** Null where it is not one that was written. */
  get header(): SegmentHeader | null {
    return readHeader(readAt(this.file, 0, dataAt))
  }

  /** Where the last frame ends. */
  get end(): number {
    return endOf(this.frames)
  }

  /** Bytes behind the last frame when the file was read. */
  get residue(): Residue | null {
    this.#frames ??= this.#scan()
    return this.#residue
  }

  /** The residue was taken away. */
  forgetResidue(): void {
    this.#residue = null
  }

  /**
   * Looks for frames that another process appended since it was read; one that is not all there yet is left. A file that somebody
   * cut short is read anew.
   */
  grow(): void {
    const frames = (this.#frames ??= this.#scan())
    for (let bytes = growBytes; ; ) {
      const end = endOf(frames)
      const piece = readAt(this.file, end, bytes)
      const head = readHead(piece, 0)
      if (piece.length === 0 && end > dataAt && readAt(this.file, end - 1, 1).length === 0)
        return this.forget()
      if (!head) return
      if (head.bytes > piece.length) {
        // The piece is as long as it was asked for, unless the file ends in it.
        if (piece.length < bytes) return
        bytes = head.bytes
        continue
      }
      if (!isIntact(piece.subarray(0, head.bytes), head)) return
      frames.push({ ...head, at: end })
      bytes = growBytes
    }
  }

  /** A frame was written behind the last one, in the place of whatever lay there. */
  add(frame: Placed): void {
    this.#frames?.push(frame)
    this.#residue = null
  }

  /** Frames are looked for anew when they are next asked for. */
  forget(): void {
    this.#frames = null
  }

  #scan(): Placed[] {
    const bytes = readAt(this.file, 0, Number.MAX_SAFE_INTEGER)
    const { frames, flaws } = scan(bytes)
    this.#flaws = flaws.map((flaw) => ({ ...flaw, file: this.file }))
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
