import { timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import type { IntegrityKind } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import type { RecordPlace } from '../ports/storage.ts'
import type { Keys, Sealer, Verifier } from './keys.ts'

/** Something that was found wrong outside the rows, kept until an operator has understood it. */
export type Alarm = {
  readonly kind: IntegrityKind
  readonly seq: number
  readonly id: string | null
  readonly detail: string
}

/**
 * What an operator acknowledged: the entries before `size` are damaged as `digest` says, and nothing has
 * changed them since. From there on the log is held to the state that the writer had.
 */
export type Baseline = LogState & { readonly digest: string }

/** The high-water mark: how far the log reached when its last caller got an answer. */
export type Mark = LogState & {
  readonly chain: string
  /** Counts writes; the higher of two slots is the newer. */
  readonly count: number
  readonly time: string
  /** Part of the checkpoints' origin; grows when they have to begin anew. */
  readonly epoch: number
  readonly alarm: Alarm | null
  readonly baseline: Baseline | null
  /** Entries before this one are known to be in the store: what is missing of them was taken away. */
  readonly stored: number
  /** What the vault said last of its own state; null before it did. */
  readonly vault: string | null
}

/** A mark as text and what vouches for it: what a slot holds, and what the store holds beside its rows. */
export type SealedMark = {
  readonly count: number
  readonly text: string
  readonly content: string
}

export const markFile = 'audit.mark'
const slotBytes = 4096
const recordsAt = slotBytes * 2
/**
 * Each half holds records of groups that the store may not have yet; more are stored first. So much is what
 * a busy server keeps in several tenths of a second.
 */
const halfBytes = 4 * 1024 * 1024
const halfAt = (half: 0 | 1, bytes = halfBytes): number => recordsAt + half * bytes
/** Before each record: its length in bytes and their CRC-32, both little-endian. */
const headBytes = 8
/** Behind the halves: the mark of a moment ago, with a signature that needs only the public key. */
const signedAt = recordsAt + 2 * halfBytes
const fileBytes = signedAt + slotBytes
const signAfterMs = 100
const tag = 'gatehouse-mark-v1\n'
/** @SECURITY Its own, so that nobody makes one of the first two slots of the third; mark.test.ts fails without it. */
const signedTag = 'gatehouse-signed-mark-v1\n'
const macPrefix = 'hmac-sha256:'

const macOf = (text: string, sealer: Sealer): string =>
  macPrefix + sealer.mac(tag + text).toString('base64')

const signatureOf = (text: string, keys: Keys): string =>
  keys.sign(Buffer.from(signedTag + text)).toString('base64')

const contentOf = (text: string, seal: string): string => `${text}\n${seal}\n`

export const sealMark = (mark: Mark, sealer: Sealer): SealedMark => {
  const text = JSON.stringify(mark)
  return { count: mark.count, text, content: contentOf(text, macOf(text, sealer)) }
}

/** The content, padded with newlines until the end of the slot. */
const fill = (slot: Buffer, content: string): void => {
  const end = slot.write(content)
  if (end < Buffer.byteLength(content)) throw new Error('the high-water mark does not fit its slot')
  slot.fill('\n', end)
}

type Checks = { readonly verifier: Verifier; readonly sealer: Sealer | null }

const isGenuine = (
  text: string,
  seal: string,
  signedWith: string,
  { verifier, sealer }: Checks,
): boolean => {
  if (!seal.startsWith(macPrefix))
    return verifier.verify(Buffer.from(signedWith + text), Buffer.from(seal, 'base64'))
  if (!sealer) return false
  const given = Buffer.from(seal.slice(macPrefix.length), 'base64')
  const expected = sealer.mac(tag + text)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Marks of before did not say how much was stored, nor anything of the vault. */
const absent = { stored: 0, vault: null }

const decode = (content: string, signedWith: string, checks: Checks): Mark | null => {
  const [text = '', seal = ''] = content.split('\n')
  if (!isGenuine(text, seal, signedWith, checks)) return null
  const mark = { ...absent, ...(JSON.parse(text) as Mark) }
  return frontierFits(mark.size, mark.peaks) ? mark : null
}

/** The mark in the content of `sealMark`; null for anything else. */
export const unsealMark = (content: string, keys: Verifier & Sealer): Mark | null =>
  decode(content, tag, { verifier: keys, sealer: keys })

const emptySlot = (): Buffer => Buffer.alloc(slotBytes, '\n')

/** Halves were of one mebibyte once, and a copy for a backup has none. */
const smallerHalves: readonly number[] = [0, 1024 * 1024]

/** Told by the exact size: a file that somebody cut short is still read where its records are. */
const halfBytesOf = (size: number): number =>
  smallerHalves.find((half) => size === recordsAt + 2 * half + slotBytes) ?? halfBytes

const readAt = (fd: number, at: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, at))
}

/** What is read of the file under this name; null where there is none. */
const readFrom = <T>(file: string, read: (fd: number, size: number) => T): T | null => {
  let fd = -1
  try {
    fd = fs.openSync(file, 'r')
    return read(fd, fs.fstatSync(fd).size)
  } catch (error) {
    if (fd === -1 && (error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  } finally {
    if (fd !== -1) fs.closeSync(fd)
  }
}

/** The three slots; what the file is too short for is empty. */
const readSlots = (file: string): readonly [Buffer, Buffer, Buffer] | null =>
  readFrom(file, (fd, size) => [
    readAt(fd, 0, slotBytes),
    readAt(fd, slotBytes, slotBytes),
    readAt(fd, recordsAt + 2 * halfBytesOf(size), slotBytes),
  ])

/**
 * The newest of the first two slots that is genuine; null when there is none. A torn write leaves the other.
 * The third counts only for who cannot check MACs: it may be older than the last answer by a tenth of a
 * second, and must not stand in where somebody took the first two away.
 */
export const readMark = (
  directory: string,
  verifier: Verifier,
  sealer: Sealer | null,
): Mark | null => {
  const slots = readSlots(path.join(directory, markFile))
  if (!slots) return null
  const marks = (sealer ? slots.slice(0, 2) : slots)
    .map((slot, i) => decode(slot.toString('utf8'), i < 2 ? tag : signedTag, { verifier, sealer }))
    .filter((mark) => mark !== null)
  return marks.sort((a, b) => b.count - a.count)[0] ?? null
}

const recordsOf = (half: Buffer): string[] => {
  const records: string[] = []
  for (let at = 0; at + headBytes <= half.length; ) {
    const length = half.readUInt32LE(at)
    const record = half.subarray(at + headBytes, at + headBytes + length)
    const whole = length > 0 && record.length === length
    if (!whole || crc32(record) !== half.readUInt32LE(at + 4)) break
    records.push(record.toString('utf8'))
    at += headBytes + length
  }
  return records
}

/**
 * What was kept with the marks, in no order. A torn last record is left out: nobody was answered for it.
 * Records that the store has long had may be among them.
 */
export const readRecords = (directory: string): string[] =>
  readFrom(path.join(directory, markFile), (fd, size) => {
    const bytes = halfBytesOf(size)
    return ([0, 1] as const).flatMap((half) => recordsOf(readAt(fd, halfAt(half, bytes), bytes)))
  }) ?? []

/**
 * Copies a folder of keys, marks and checkpoints into another. Records stay behind: they are for a store that has
 * not got them yet, and would be most of a small backup.
 */
export const copyLogFolder = (from: string, to: string): void => {
  const mark = path.join(from, markFile)
  fs.cpSync(from, to, { recursive: true, filter: (file) => file !== mark })
  const slots = readSlots(mark)
  if (slots) fs.writeFileSync(path.join(to, markFile), Buffer.concat(slots), { mode: 0o600 })
}

export interface MarkFile extends Disposable {
  /** Must be on the disk when this returns. */
  write(mark: SealedMark): void

  /**
   * The same with a record, both in one sync. Must return false, and write nothing, where there is no room
   * in that half.
   */
  writeWith(mark: SealedMark, record: Uint8Array, place: RecordPlace): boolean

  /** Whether the file under its name still says what was written last. */
  intact(): boolean

  /** Makes the file anew, where somebody removed or replaced it. */
  restore(): void
}

/**
 * Keeps the file open: on the hot path a mark costs a MAC, a write and a sync. A signature would be a fifth of
 * what a lone call takes above a plain server, so it follows within a tenth of a second, and at the end.
 */
export const openMark = (directory: string, keys: Keys): MarkFile => {
  const file = path.join(directory, markFile)
  const slots = [emptySlot(), emptySlot()] as const
  let signed = emptySlot()
  readSlots(file)?.[2].copy(signed)
  /** The text of the last mark, until it is signed. */
  let unsigned: string | null = null
  let timer: NodeJS.Timeout | null = null
  let fd = -1
  let last: 0 | 1 = 0
  const next: [number, number] = [halfAt(0), halfAt(1)]

  const open = (): void => {
    if (fd !== -1) fs.closeSync(fd)
    fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
    // Full length before the first mark, so that syncing the data is enough from then on.
    if (fs.fstatSync(fd).size < recordsAt) fs.writeSync(fd, Buffer.concat(slots), 0, undefined, 0)
    const { size } = fs.fstatSync(fd)
    const missing = signedAt - size
    if (missing > 0) fs.writeSync(fd, Buffer.alloc(missing), 0, missing, size)
    if (size < fileBytes) fs.writeSync(fd, signed, 0, slotBytes, signedAt)
    fs.fsyncSync(fd)
    const folder = fs.openSync(directory, 'r')
    fs.fsyncSync(folder)
    fs.closeSync(folder)
  }

  /** Not synced: after a loss of power the slot with the MAC is there. */
  const sign = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    if (unsigned === null) return
    const slot = Buffer.alloc(slotBytes)
    fill(slot, contentOf(unsigned, signatureOf(unsigned, keys)))
    fs.writeSync(fd, slot, 0, slotBytes, signedAt)
    signed = slot
    unsigned = null
  }

  const signQuietly = (): void => {
    try {
      sign()
    } catch {
      // The next mark fails in the same way where somebody waits for it, or tries this again.
    }
  }

  const writeSlot = ({ count, text, content }: SealedMark): void => {
    const at = count % 2 === 0 ? 0 : 1
    const slot = slots[at]
    fill(slot, content)
    fs.writeSync(fd, slot, 0, slotBytes, at * slotBytes)
    // @SECURITY Before any answer: a loss of power would take answered entries unseen; mark.test.ts.
    fs.fdatasyncSync(fd)
    last = at
    unsigned = text
    timer ??= setTimeout(signQuietly, signAfterMs).unref()
  }

  open()
  return {
    write: writeSlot,
    writeWith(mark, record, { half, fresh }) {
      const at = fresh ? halfAt(half) : next[half]
      const end = at + headBytes + record.length
      if (end > halfAt(half) + halfBytes) return false
      const head = Buffer.allocUnsafe(headBytes)
      head.writeUInt32LE(record.length, 0)
      head.writeUInt32LE(crc32(record), 4)
      // The record before the mark: whoever is killed in between leaves a longer log, never a shorter one.
      fs.writevSync(fd, [head, record], at)
      writeSlot(mark)
      next[half] = end
      return true
    },
    intact() {
      const found = readSlots(file)
      return found?.[last].equals(slots[last]) === true && found[2].equals(signed)
    },
    restore() {
      fs.rmSync(file, { force: true })
      open()
    },
    [Symbol.dispose]() {
      if (fd === -1) return
      signQuietly()
      fs.closeSync(fd)
      fd = -1
    },
  }
}
