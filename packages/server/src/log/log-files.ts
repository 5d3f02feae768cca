import fs from 'node:fs'
import path from 'node:path'
import { syncFolder } from './files.ts'
import { decodeEntry, decodeFrame, type Frame, type LoggedEntry } from './frame.ts'
import {
  dataAt,
  encodeHeader,
  type Flaw,
  type Placed,
  type Residue,
  readAt,
  Segment,
  type SegmentHeader,
} from './segment.ts'

export const segmentsFolder = 'segments'

/** A segment that is full. */
export type SealedSegment = { readonly file: string; readonly first: number; readonly end: number }

const smallestBytes = 256 * 1024
/** Bytes that a busy server writes in a second or two. */
const largestBytes = 16 * 1024 * 1024
const pieceBytes = 64 * 1024
/** More than nearly every group needs. */
const roomBytes = 64 * 1024
/** Bytes that a reader takes from the disk at once. */
const readBytes = 1024 * 1024
const nameDigits = 16
const namePattern = /^(\d{16})\.log$/
/** The segment after the last one, filled ahead. */
const aheadName = 'ahead'
/** One that is made as it is needed, until it is whole. */
const nextName = 'next'
const sealedMode = 0o400

const nameOf = (first: number): string => `${String(first).padStart(nameDigits, '0')}.log`

/** Links count too: taking the file's name away changes nothing else of it. */
const printOf = ({ ino, nlink, size, ctimeMs }: fs.Stats): string =>
  `${ino}:${nlink}:${size}:${ctimeMs}`

/** Changes with whatever is done to the file. */
export const fingerprint = (file: string): string => {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat ? printOf(stat) : 'none'
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Of a write a full disk or a quota may take a part. */
const writeWhole = (fd: number, bytes: Buffer, at = 0): void => {
  const written = fs.writeSync(fd, bytes, 0, bytes.length, at)
  if (written < bytes.length) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
}

/** Blocks that are written once make every later sync one of data alone. What does not get all of them takes no room. */
const allocate = (file: string, bytes: number): void => {
  const fd = fs.openSync(file, 'w', 0o600)
  try {
    const piece = Buffer.alloc(pieceBytes)
    for (let at = 0; at < bytes; at += pieceBytes) writeWhole(fd, piece, at)
    fs.fsyncSync(fd)
  } catch (error) {
    fs.rmSync(file, { force: true })
    throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** Frames that are read at once. */
function* runsOf(frames: readonly Placed[]): Generator<readonly Placed[]> {
  let run: Placed[] = []
  let bytes = 0
  for (const frame of frames) {
    run.push(frame)
    bytes += frame.bytes
    if (bytes < readBytes) continue
    yield run
    run = []
    bytes = 0
  }
  if (run.length > 0) yield run
}

/** The log's files as they are on the disk: what is read here is believed by nobody before it is verified. */
export class LogReader {
  readonly folder: string
  protected segments: Segment[]

  constructor(directory: string) {
    this.folder = path.join(directory, segmentsFolder)
    this.segments = this.list()
  }

  /** Paths of the segments, in their order. */
  get files(): readonly string[] {
    return this.segments.map(({ file }) => file)
  }

  /** The number after that of the last entry. */
  get end(): number {
    for (const segment of this.segments.toReversed()) {
      const last = segment.frames.at(-1)
      if (last) return last.first + last.count
    }
    return 0
  }

  /** Bytes behind the last frame; null where there are none. */
  get residue(): Residue | null {
    return this.segments.at(-1)?.residue ?? null
  }

  get isEmpty(): boolean {
    return this.segments.every(({ frames }) => frames.length === 0)
  }

  /** The frames from the one on that holds this entry, up to an entry, as they lie in the files. */
  *frames(from = 0, to = Number.POSITIVE_INFINITY): Generator<Frame> {
    for (const { segment, start } of this.#parts(from)) {
      if (segment.first >= to) return
      const end =
        to === Number.POSITIVE_INFINITY ? segment.frames.length : segment.indexOf(to - 1) + 1
      for (const run of runsOf(segment.frames.slice(start, end))) {
        const [first, last] = [run[0] as Placed, run.at(-1) as Placed]
        const length = last.at + last.bytes - first.at
        const bytes = readAt(segment.file, first.at, length)
        // Retention, or somebody else, took the file away: its entries are not there.
        if (bytes.length < length) break
        for (const frame of run) {
          const at = frame.at - first.at
          yield decodeFrame(bytes.subarray(at, at + frame.bytes), frame)
        }
      }
    }
  }

  /** Entries from one number on up to another, frame by frame, in the order of the files. */
  *entries(from: number, to?: number): Generator<readonly LoggedEntry[]> {
    let isFirst = true
    for (const { entries } of this.frames(from, to)) {
      const wanted = isFirst ? entries.filter(({ seq }) => seq >= from) : entries
      isFirst = false
      if (wanted.length > 0) yield wanted
    }
  }

  /** Bytes of the segments with entries from a number on that nothing of the log accounts for, in their order. */
  flaws(chain: string, from = 0, to = Number.POSITIVE_INFINITY): readonly Flaw[] {
    const { segments } = this
    const last = segments.at(-1)
    const asked = segments.slice(this.#indexOf(from)).filter(({ first }) => first < to)
    const found = asked.flatMap((segment) => {
      const { file, first, header, end } = segment
      const isOwn = header?.chain === chain && header.first === first
      const behind = segment === last ? 0 : sizeOf(file) - end
      return [
        ...(isOwn
          ? []
          : [{ file, at: 0, seq: first, what: 'the header is not as it was written' }]),
        ...segment.flaws,
        ...(behind > 0
          ? [
              {
                file,
                at: end,
                seq: this.#lastOf(segment),
                what: `${behind} bytes belong to no frame`,
              },
            ]
          : []),
      ]
    })
    return found.filter(({ seq }) => seq >= from && seq < to)
  }

  /** Headers of the segments that begin behind a number. */
  headers(from: number): readonly { readonly file: string; readonly header: SegmentHeader }[] {
    return this.segments
      .filter(({ first }) => first > from)
      .flatMap(({ file, header }) => (header ? [{ file, header }] : []))
  }

  /** One entry; null where there is none with this number. */
  entry(seq: number): LoggedEntry | null {
    const found = this.#find(seq)
    if (!found) return null
    const { file, frame } = found
    const bytes = readAt(file, frame.at, frame.bytes)
    if (bytes.length < frame.bytes) return null
    return decodeEntry(bytes, frame, seq)
  }

  protected list(): Segment[] {
    let names: string[]
    try {
      names = fs.readdirSync(this.folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
    return names
      .flatMap((name) => {
        const first = namePattern.exec(name)?.[1]
        return first === undefined ? [] : [new Segment(path.join(this.folder, name), Number(first))]
      })
      .toSorted((a, b) => a.first - b.first)
  }

  *#parts(from: number): Generator<{ readonly segment: Segment; readonly start: number }> {
    for (const [i, segment] of this.segments.slice(this.#indexOf(from)).entries())
      yield { segment, start: i === 0 ? segment.indexOf(from) : 0 }
  }

  /** The place of the segment that has an entry, or would. */
  #indexOf(seq: number): number {
    const after = this.segments.findIndex(({ first }) => first > seq)
    return Math.max(0, (after < 0 ? this.segments.length : after) - 1)
  }

  /** The last entry before the next segment. */
  #lastOf(segment: Segment): number {
    const next = this.segments[this.segments.indexOf(segment) + 1]?.first ?? segment.first
    return Math.max(segment.first, next - 1)
  }

  #find(seq: number): { readonly file: string; readonly frame: Placed } | null {
    for (const segment of this.segments.toReversed()) {
      if (segment.first > seq) continue
      const frame = segment.frames[segment.indexOf(seq)]
      return frame && frame.first <= seq ? { file: segment.file, frame } : null
    }
    return null
  }
}

type Writing = {
  readonly segment: Segment
  readonly fd: number
  readonly capacity: number
  at: number
}

/** The same for the one who writes it: frames are appended to segments that were allocated before. */
export class LogFiles extends LogReader implements Disposable {
  #writing: Writing | null = null
  #ahead: Promise<void> | null = null
  #hasAhead = false
  #seen = new Map<string, string>()
  #foreign = false

  constructor(directory: string) {
    super(directory)
    fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    this.#look()
  }

  /** Must be on the disk when this returns; raises where it is not, and then the log is as it was. */
  append(
    frame: Buffer,
    { first, count }: { first: number; count: number },
    header: () => SegmentHeader,
  ): void {
    this.#beforeWrite()
    try {
      const writing = this.#roomFor(frame.length, first, header)
      const { at, fd, segment } = writing
      writeWhole(fd, frame, at)
      // @SECURITY before any answer: a loss of power loses acknowledged entries without it; crash.test.ts.
      fs.fdatasyncSync(fd)
      writing.at = at + frame.length
      segment.add({ at, bytes: frame.length, first, count, crc: frame.readUInt32LE(12) })
      this.#prepare(writing)
    } catch (error) {
      this.#closeWriting()
      throw error
    } finally {
      this.#afterWrite()
    }
  }

  /** Raises where the log could not take another frame. */
  assertRoom(first: number, header: () => SegmentHeader): void {
    this.#roomFor(roomBytes, first, header)
    this.#afterWrite()
  }

  /** Segments that nothing is appended to any more, oldest first; each ends where the next one begins. */
  sealed(): readonly SealedSegment[] {
    return this.segments.slice(0, -1).map((segment, i) => ({
      file: segment.file,
      first: segment.first,
      end: (this.segments[i + 1] as Segment).first,
    }))
  }

  /** Bytes of all segments, as far as they are written. */
  bytes(): number {
    const last = this.segments.at(-1)
    return this.sealed().reduce((sum, { file }) => sum + sizeOf(file), last ? this.#endOf(last) : 0)
  }

  /** Removes the segments whose entries all lie before this one, the oldest first. */
  removeBefore(seq: number): void {
    const gone = this.sealed().filter(({ end }) => end <= seq)
    for (const { file } of gone) {
      fs.rmSync(file, { force: true })
      this.segments = this.segments.filter((segment) => segment.file !== file)
      this.#seen.delete(file)
    }
    if (gone.length > 0) syncFolder(this.folder)
  }

  /** Removes the frames from this entry on. Whoever needs them has kept them elsewhere. */
  cut(from: number): void {
    this.#closeWriting()
    this.#beforeWrite()
    for (const segment of this.segments.toReversed()) {
      const gone = segment.frames.find(({ first, count }) => first + count > from)
      if (!gone && segment.frames.length > 0) break
      if (!gone || gone.at === dataAt) {
        this.#drop(segment)
        continue
      }
      fs.chmodSync(segment.file, 0o600)
      const fd = fs.openSync(segment.file, 'r+')
      try {
        fs.ftruncateSync(fd, gone.at)
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
      segment.forget()
    }
    syncFolder(this.folder)
    this.#look()
  }

  /** Takes away what lies behind the last frame without being one. Null where nothing does. */
  takeResidue(): Residue | null {
    const [segment, { residue }] = [this.segments.at(-1), this]
    if (!segment || !residue) return null
    const isSealed = (fs.statSync(segment.file).mode & 0o200) === 0
    if (isSealed) fs.chmodSync(segment.file, 0o600)
    const fd = fs.openSync(segment.file, 'r+')
    try {
      if (isSealed) fs.ftruncateSync(fd, segment.end)
      else zero(fd, residue.at, residue.at + residue.length)
      if (isSealed) fs.fchmodSync(fd, sealedMode)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    segment.forgetResidue()
    this.#afterWrite()
    return residue
  }

  /** Whether somebody else changed a file since the last call; then everything is read anew. */
  takeForeign(): boolean {
    const now = new Map(this.list().map(({ file }) => [file, fingerprint(file)]))
    const differs = (file: string): boolean => now.get(file) !== this.#seen.get(file)
    const foreign = this.#foreign || [...now.keys(), ...this.#seen.keys()].some(differs)
    this.#foreign = false
    if (foreign) this.reload()
    return foreign
  }

  /** Looks at the files anew. */
  reload(): void {
    this.#closeWriting()
    this.segments = this.list()
    this.#look()
  }

  /** Copies the log as it is now into a folder: what is sealed by name, the last segment by its bytes. */
  copyTo(folder: string): void {
    const target = path.join(folder, segmentsFolder)
    fs.mkdirSync(target, { recursive: true, mode: 0o700 })
    const last = this.segments.at(-1)
    for (const segment of this.segments) {
      const copy = path.join(target, path.basename(segment.file))
      if (segment === last)
        fs.writeFileSync(copy, readAt(segment.file, 0, this.#endOf(segment)), { mode: 0o600 })
      else linkOrCopy(segment.file, copy)
    }
  }

  [Symbol.dispose](): void {
    this.#closeWriting()
  }

  /** The open segment, or the next one where this frame does not fit. */
  #roomFor(bytes: number, first: number, header: () => SegmentHeader): Writing {
    const open = (this.#writing ??= this.#openLast())
    if (open && open.at + bytes <= open.capacity) return open
    if (open && open.at > dataAt) this.#sealSegment(open)
    else if (open) this.#drop(open.segment)
    this.#writing = this.#start(first, bytes, header())
    return this.#writing
  }

  /** Removes a segment without entries: the next one may begin with the same number. */
  #drop(segment: Segment): void {
    if (this.#writing?.segment === segment) this.#closeWriting()
    fs.rmSync(segment.file, { force: true })
    this.segments = this.segments.filter((other) => other !== segment)
    this.#seen.delete(segment.file)
  }

  #openLast(): Writing | null {
    const segment = this.segments.at(-1)
    if (!segment) return null
    const { size, mode } = fs.statSync(segment.file)
    if ((mode & 0o200) === 0) return null
    const fd = fs.openSync(segment.file, 'r+')
    const at = this.#endOf(segment)
    // The rest of a write that a crash cut must not lie behind a shorter one.
    if (size > at) zero(fd, at, size)
    return { segment, fd, at, capacity: Math.max(size, at) }
  }

  #endOf(segment: Segment): number {
    return this.#writing?.segment === segment ? this.#writing.at : segment.end
  }

  #sealSegment({ segment, fd, at }: Writing): void {
    fs.ftruncateSync(fd, at)
    fs.fchmodSync(fd, sealedMode)
    fs.fsyncSync(fd)
    this.#closeWriting()
    this.#seen.set(segment.file, fingerprint(segment.file))
  }

  #start(first: number, bytes: number, header: SegmentHeader): Writing {
    const file = path.join(this.folder, nameOf(first))
    const ahead = path.join(this.folder, aheadName)
    const wanted = dataAt + bytes
    this.#hasAhead = false
    const there = this.#ahead === null ? fs.statSync(ahead, { throwIfNoEntry: false }) : undefined
    const isReady = there !== undefined && there.size >= wanted && there.size % pieceBytes === 0
    const made = isReady ? ahead : path.join(this.folder, nextName)
    if (!isReady)
      allocate(made, Math.max(this.#nextCapacity(), Math.ceil(wanted / pieceBytes) * pieceBytes))
    const fd = fs.openSync(made, 'r+')
    try {
      writeWhole(fd, encodeHeader(header))
      fs.fsyncSync(fd)
      // @SECURITY Only with its header it is one of the log: what a full disk or a crash left of one would get entries
      // without it, and the log would fail verification; log-files.test.ts.
      fs.renameSync(made, file)
      syncFolder(this.folder)
    } catch (error) {
      fs.closeSync(fd)
      throw error
    }
    const segment = new Segment(file, first, [])
    this.segments.push(segment)
    return { segment, fd, at: dataAt, capacity: fs.fstatSync(fd).size }
  }

  #nextCapacity(): number {
    const last = this.segments.at(-1)
    const before = last ? sizeOf(last.file) : 0
    return Math.min(largestBytes, Math.max(smallestBytes, before * 2))
  }

  /** Fills the next segment while there is time. Where that fails, it is made when it is needed. */
  #prepare({ at, capacity }: Writing): void {
    if (this.#ahead !== null || this.#hasAhead || at < capacity / 2) return
    const ahead = path.join(this.folder, aheadName)
    this.#hasAhead = fs.existsSync(ahead)
    if (this.#hasAhead) return
    this.#ahead = allocateLater(ahead, Math.min(largestBytes, capacity * 2))
      .catch(() => fs.promises.rm(ahead, { force: true }).catch(() => undefined))
      .finally(() => {
        this.#ahead = null
      })
  }

  #closeWriting(): void {
    if (this.#writing) fs.closeSync(this.#writing.fd)
    this.#writing = null
  }

  /** The last segment alone: those before it are looked at when somebody asks. */
  #beforeWrite(): void {
    const [file, print] = this.#lastPrint()
    if (file !== null && this.#seen.get(file) !== print) this.#foreign = true
  }

  #afterWrite(): void {
    const [file, print] = this.#lastPrint()
    if (file !== null) this.#seen.set(file, print)
  }

  /** By its descriptor where it is open, which costs half of a look by its name. */
  #lastPrint(): readonly [file: string | null, print: string] {
    const last = this.segments.at(-1)
    if (!last) return [null, '']
    const open = this.#writing
    const print = open?.segment === last ? printOf(fs.fstatSync(open.fd)) : fingerprint(last.file)
    return [last.file, print]
  }

  #look(): void {
    this.#seen = new Map(this.segments.map(({ file }) => [file, fingerprint(file)]))
  }
}

/** A link costs nothing; a log on another file system is copied. */
const linkOrCopy = (from: string, to: string): void => {
  try {
    fs.linkSync(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP') throw error
    fs.copyFileSync(from, to)
  }
}

/** Only what is not zero already: a sync has to write whatever was touched. */
const zero = (fd: number, from: number, to: number): void => {
  const [piece, there] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)]
  for (let at = from; at < to; at += pieceBytes) {
    const length = Math.min(pieceBytes, to - at)
    const read = fs.readSync(fd, there, 0, length, at)
    if (read < length || there.compare(piece, 0, length, 0, length) !== 0)
      fs.writeSync(fd, piece, 0, length, at)
  }
}

const allocateLater = async (file: string, bytes: number): Promise<void> => {
  const handle = await fs.promises.open(file, 'w', 0o600)
  try {
    const piece = Buffer.alloc(pieceBytes)
    for (let at = 0; at < bytes; at += pieceBytes) await handle.write(piece, 0, pieceBytes, at)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}
