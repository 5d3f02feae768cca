import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { IntegrityKind } from '@gatehouse/contract'
import { canonical } from '../domain/audit/canonical.ts'
import type { LogState } from '../domain/audit/chain.ts'
import { frontierFits, rootOf } from '../domain/audit/merkle.ts'
import { readIfThere } from './files.ts'
import { hashing } from './hashing.ts'
import type { Keys, Verifier } from './keys.ts'

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
  readonly root: string
  /** Counts writes; the higher of two slots is the newer. */
  readonly count: number
  readonly time: string
  /** Part of the checkpoints' origin; grows when they have to begin anew. */
  readonly epoch: number
  readonly alarm: Alarm | null
  readonly baseline: Baseline | null
}

export const markFile = 'audit.mark'
const slotBytes = 4096
const write = promisify(fs.write)
const fdatasync = promisify(fs.fdatasync)
const tag = 'gatehouse-mark-v1\n'

const slotOf = (text: string, signature: Buffer): Buffer => {
  const lines = `${text}\n${signature.toString('base64')}\n`
  const slot = Buffer.alloc(slotBytes, '\n')
  if (slot.write(lines) < Buffer.byteLength(lines)) {
    throw new Error('the high-water mark does not fit its slot')
  }
  return slot
}

const decode = (slot: Buffer, verifier: Verifier): Mark | null => {
  const [text = '', signature = ''] = slot.toString('utf8').split('\n')
  if (!verifier.verify(Buffer.from(tag + text), Buffer.from(signature, 'base64'))) return null
  const mark = JSON.parse(text) as Mark
  const whole = frontierFits(mark.size, mark.peaks) && rootOf(hashing, mark.peaks) === mark.root
  return whole ? mark : null
}

/** The newest slot that is signed; null when there is none. A torn write leaves the other slot. */
export const readMark = (directory: string, verifier: Verifier): Mark | null => {
  const bytes = readIfThere(path.join(directory, markFile))
  if (!bytes) return null
  const marks = [bytes.subarray(0, slotBytes), bytes.subarray(slotBytes, slotBytes * 2)]
    .map((slot) => decode(slot, verifier))
    .filter((mark) => mark !== null)
  return marks.sort((a, b) => b.count - a.count)[0] ?? null
}

/** A signed mark that is not written yet. */
export type PreparedMark = { readonly count: number; readonly slot: Buffer }

export interface MarkFile extends Disposable {
  /** Must be on the disk when this returns. */
  write(mark: Mark): void

  /** Must sign on another thread, and write nothing yet. */
  prepare(mark: Mark): Promise<PreparedMark>

  /** Must be on the disk when the promise resolves. `blocking` is sooner for one, and holds up all others. */
  writePrepared(prepared: PreparedMark, options: { readonly blocking: boolean }): Promise<void>

  /** Whether the file under its name still says what was written last. */
  intact(): boolean

  /** Makes the file anew, where somebody removed or replaced it. */
  restore(): void
}

/** Keeps the file open: on the hot path a mark costs a signature, a write and a sync. */
export const openMark = (directory: string, keys: Keys): MarkFile => {
  const file = path.join(directory, markFile)
  let slots: readonly [Buffer, Buffer] = [
    Buffer.alloc(slotBytes, '\n'),
    Buffer.alloc(slotBytes, '\n'),
  ]
  let fd = -1
  let last: 0 | 1 = 0

  const open = (): void => {
    if (fd !== -1) fs.closeSync(fd)
    fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
    // Full length before the first mark, so that syncing the data is enough from then on.
    if (fs.fstatSync(fd).size < slotBytes * 2)
      fs.writeSync(fd, Buffer.concat(slots), 0, undefined, 0)
    fs.fsyncSync(fd)
    const folder = fs.openSync(directory, 'r')
    fs.fsyncSync(folder)
    fs.closeSync(folder)
  }

  const written = (slot: Buffer, at: 0 | 1): void => {
    slots = at === 0 ? [slot, slots[1]] : [slots[0], slot]
    last = at
  }
  const placeOf = (count: number): 0 | 1 => (count % 2 === 0 ? 0 : 1)

  const writeNow = ({ count, slot }: PreparedMark): void => {
    const at = placeOf(count)
    fs.writeSync(fd, slot, 0, slotBytes, at * slotBytes)
    // @SECURITY before any answer: crash tests lose acknowledged entries unseen without it.
    fs.fdatasyncSync(fd)
    written(slot, at)
  }

  const writeLater = async ({ count, slot }: PreparedMark): Promise<void> => {
    const at = placeOf(count)
    await write(fd, slot, 0, slotBytes, at * slotBytes)
    // @SECURITY as above.
    await fdatasync(fd)
    written(slot, at)
  }

  open()
  return {
    write(mark) {
      const text = canonical(mark)
      writeNow({ count: mark.count, slot: slotOf(text, keys.sign(Buffer.from(tag + text))) })
    },
    async prepare(mark) {
      const text = canonical(mark)
      const signature = await keys.signLater(Buffer.from(tag + text))
      return { count: mark.count, slot: slotOf(text, signature) }
    },
    async writePrepared(prepared, { blocking }) {
      if (blocking) writeNow(prepared)
      else await writeLater(prepared)
    },
    intact() {
      const found = readIfThere(file)?.subarray(last * slotBytes, (last + 1) * slotBytes)
      return found?.equals(slots[last]) ?? false
    },
    restore() {
      fs.rmSync(file, { force: true })
      open()
    },
    [Symbol.dispose]() {
      if (fd !== -1) fs.closeSync(fd)
      fd = -1
    },
  }
}
