import { crc32 } from 'node:zlib'
import type { LimitStamp } from '../ports/limits.ts'

/** An entry as the log files hold it. */
export type LoggedEntry = {
  readonly seq: number
  /** The chain hash, in hex. */
  readonly hash: string
  /** The first bytes of a keyed hash of `hash`, in hex: it names the first entry that somebody else wrote. */
  readonly seal: string
  /** The canonical JSON that was hashed. */
  readonly body: string
}

/** Facts that one group brings beside its entries. */
export type GroupNote = {
  readonly stamps: readonly LimitStamp[]
  /** Invocations to add, by agent and by session. */
  readonly agents: readonly (readonly [string, number])[]
  readonly sessions: readonly (readonly [string, number])[]
  readonly clockMs: number
  /** State of the vault according to the group; null where it says nothing. */
  readonly vault: string | null
}

/** A group as one record of a segment. */
export type Frame = {
  readonly first: number
  readonly note: GroupNote
  readonly entries: readonly LoggedEntry[]
  /** HMAC over the note, the number of entries that the log has with this group, and its head; 32 bytes. */
  readonly mac: Buffer
  /** Whether all bytes are as they were written, by a checksum that anybody can make. */
  readonly intact: boolean
}

/** Head of a frame: its first bytes. */
export type FrameHead = {
  readonly first: number
  readonly count: number
  /** Of the frame, with head and MAC. */
  readonly bytes: number
  readonly crc: number
}

/** `GHF1`, little-endian. */
const magic = 0x31464847
export const headBytes = 32
export const macBytes = 32
const hashLength = 64
export const sealLength = 16
const separator = '\n'
/** The largest entry is far below; what claims more is damage. */
const frameBytesMax = 256 * 1024 * 1024

export const lineOf = (hash: string, seal: string, body: string): string =>
  separator + hash + seal + body

/** The text of a frame: a line about the group, then a line for each entry. */
export const noteText = (note: GroupNote): string => JSON.stringify(note)

/** Puts a frame into a buffer of its own. `text` is the note and the lines of its entries. */
export const encodeFrame = (first: number, count: number, text: string, mac: Buffer): Buffer => {
  const frame = Buffer.allocUnsafe(headBytes + Buffer.byteLength(text) + macBytes)
  const end = headBytes + frame.write(text, headBytes, 'utf8')
  mac.copy(frame, end)
  frame.writeUInt32LE(magic, 0)
  frame.writeUInt32LE(frame.length, 4)
  frame.writeUInt32LE(count, 8)
  frame.writeUInt32LE(crc32(frame.subarray(headBytes)), 12)
  frame.writeDoubleLE(first, 16)
  frame.fill(0, 24, headBytes)
  return frame
}

/** The head at this place of some bytes of a segment; null where there is none. */
export const readHead = (bytes: Buffer, at: number): FrameHead | null => {
  if (at + headBytes > bytes.length || bytes.readUInt32LE(at) !== magic) return null
  const head = {
    bytes: bytes.readUInt32LE(at + 4),
    count: bytes.readUInt32LE(at + 8),
    crc: bytes.readUInt32LE(at + 12),
    first: bytes.readDoubleLE(at + 16),
  }
  const isPossible =
    head.bytes >= headBytes + macBytes &&
    head.bytes <= frameBytesMax &&
    Number.isSafeInteger(head.first) &&
    head.first >= 0
  return isPossible ? head : null
}

/** The same of the bytes of a frame. */
export const isIntact = (bytes: Buffer, { crc }: FrameHead): boolean =>
  crc32(bytes.subarray(headBytes)) === crc

/** The next place from here on at which a frame may begin; -1 where there is none. */
export const nextHead = (bytes: Buffer, from: number): number => {
  const mark = Buffer.alloc(4)
  mark.writeUInt32LE(magic, 0)
  for (let at = bytes.indexOf(mark, from); at >= 0; at = bytes.indexOf(mark, at + 1))
    if (readHead(bytes, at)) return at
  return -1
}

const noteOf = (line: string): GroupNote => {
  try {
    return JSON.parse(line) as GroupNote
  } catch {
    // Damage: the verification names the entries, and nothing is counted of it.
    return { stamps: [], agents: [], sessions: [], clockMs: 0, vault: null }
  }
}

/** Lines beyond the last entry belong to it: numbers of their own would be those of the next frame's entries. */
const linesOf = (text: string, count: number): readonly string[] => {
  const lines = text.split(separator)
  const last = Math.max(1, count)
  return lines.length <= last + 1
    ? lines
    : [...lines.slice(0, last), lines.slice(last).join(separator)]
}

const entryOf = (seq: number, line: string): LoggedEntry => ({
  seq,
  hash: line.slice(0, hashLength),
  seal: line.slice(hashLength, hashLength + sealLength),
  body: line.slice(hashLength + sealLength),
})

/** One entry of a frame, as `decodeFrame` reads it, without reading the others. */
export const decodeEntry = (bytes: Buffer, head: FrameHead, seq: number): LoggedEntry | null => {
  const end = bytes.length - macBytes
  const lineAfter = (at: number): number => {
    const found = bytes.indexOf(separator, at)
    return found < 0 || found >= end ? -1 : found
  }
  let at = headBytes - 1
  for (let passed = head.first; passed <= seq; passed += 1) {
    at = lineAfter(at + 1)
    if (at < 0) return null
  }
  const isLast = seq - head.first === Math.max(1, head.count) - 1
  const next = isLast ? -1 : lineAfter(at + 1)
  return entryOf(seq, bytes.toString('utf8', at + 1, next < 0 ? end : next))
}

/** Reads the bytes of one frame. Lines that damage put in or took away show as entries that do not fit. */
export const decodeFrame = (bytes: Buffer, head: FrameHead): Frame => {
  const { first } = head
  const end = bytes.length - macBytes
  const [about = '', ...lines] = linesOf(bytes.toString('utf8', headBytes, end), head.count)
  const entries = lines.map((line, i) => entryOf(first + i, line))
  return {
    first,
    note: noteOf(about),
    entries,
    mac: Buffer.from(bytes.subarray(end)),
    get intact() {
      return isIntact(bytes, head)
    },
  }
}
