import { timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { IntegrityKind } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import type { Keys, Sealer, Verifier } from './keys.ts'

/** Finding that is kept until an operator has acknowledged it. */
export type Alarm = {
  readonly kind: IntegrityKind
  readonly seq: number
  readonly id: string | null
  readonly detail: string
}

/**
 * Acknowledged state: the entries before `size` are damaged as `digest` says, and nothing has
 * changed them since. From there on the log is verified from the state that the writer had.
 */
export type Baseline = LogState & { readonly digest: string }

/** How far the log reached when its last caller got an answer. */
export type SignedHead = LogState & {
  readonly chain: string
  /** Counts writes; the higher of two slots is the newer. */
  readonly count: number
  readonly time: string
  /** Part of the checkpoints' origin; grows when they have to begin anew. */
  readonly epoch: number
  readonly alarm: Alarm | null
  readonly baseline: Baseline | null
  /** State of the vault as it last said; null before it did. */
  readonly vault: string | null
}

export const headFile = 'audit.head'
const slotBytes = 4096
const fileBytes = slotBytes * 3
const signAfterMs = 100
const tag = 'gatehouse-head-v1\n'
/** @SECURITY A tag of its own, so that nobody makes one of the first two slots of the third; signed-head.test.ts fails without it. */
const signedTag = 'gatehouse-signed-head-v1\n'
const macPrefix = 'hmac-sha256:'

const contentOf = (text: string, seal: string): string => `${text}\n${seal}\n`

const macOf = (text: string, sealer: Sealer): string =>
  macPrefix + sealer.mac(tag + text).toString('base64')

/** The content at the start of the slot; what stood behind it is of no meaning. Returns the bytes that changed. */
const fill = (slot: Buffer, content: string): Buffer => {
  const end = slot.write(content)
  if (end < Buffer.byteLength(content)) throw new Error('the signed head does not fit its slot')
  return slot.subarray(0, end)
}

type Checks = { readonly verifier: Verifier; readonly sealer: Sealer | null }

const isGenuine = (
  text: string,
  seal: string,
  isSigned: boolean,
  { verifier, sealer }: Checks,
): boolean => {
  if (isSigned) return verifier.verify(Buffer.from(signedTag + text), Buffer.from(seal, 'base64'))
  if (!sealer || !seal.startsWith(macPrefix)) return false
  const given = Buffer.from(seal.slice(macPrefix.length), 'base64')
  const expected = sealer.mac(tag + text)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const decode = (slot: Buffer, isSigned: boolean, checks: Checks): SignedHead | null => {
  const [text = '', seal = ''] = slot.toString('utf8').split('\n')
  if (!isGenuine(text, seal, isSigned, checks)) return null
  const head = JSON.parse(text) as SignedHead
  return frontierFits(head.size, head.peaks) ? head : null
}

const emptySlot = (): Buffer => Buffer.alloc(slotBytes, '\n')

/** The three slots; null where there is no file. */
const readSlots = (file: string): readonly [Buffer, Buffer, Buffer] | null => {
  let bytes: Buffer
  try {
    bytes = fs.readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const slot = (i: number) => bytes.subarray(i * slotBytes, (i + 1) * slotBytes)
  return [slot(0), slot(1), slot(2)]
}

/**
 * The newest of the first two slots that is genuine; null when there is none. A torn write leaves the other.
 * The third counts only for who cannot check MACs: it may be older than the last answer by a tenth of a
 * second, and must not stand in where somebody took the first two away.
 */
export const readSignedHead = (
  directory: string,
  verifier: Verifier,
  sealer: Sealer | null,
): SignedHead | null => {
  const slots = readSlots(path.join(directory, headFile))
  if (!slots) return null
  const checks = { verifier, sealer }
  const [a, b, signed] = slots
  const heads = sealer
    ? [decode(a, false, checks), decode(b, false, checks)]
    : [decode(signed, true, checks)]
  return heads.filter((head) => head !== null).sort((x, y) => y.count - x.count)[0] ?? null
}

export interface HeadFile extends Disposable {
  /** Written, and synced a moment later: the log itself, which may be longer, was synced before. */
  write(head: SignedHead): void

  /** Must be on the disk when this returns. */
  writeSynced(head: SignedHead): void

  /** Whether the file under its name still says what was written last. */
  intact(): boolean

  /** Makes the file anew, where somebody removed or replaced it. */
  restore(): void
}

export const openHeadFile = (directory: string, keys: Keys): HeadFile => {
  const file = path.join(directory, headFile)
  const slots = [emptySlot(), emptySlot()] as const
  let signed = emptySlot()
  let fd = -1
  let last: 0 | 1 = 0
  /** The text of the last write, until it is signed too. */
  let unsigned: string | null = null
  let timer: NodeJS.Timeout | null = null

  const open = (): void => {
    if (fd !== -1) fs.closeSync(fd)
    fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
    const found = readSlots(file)
    const isNew = !found || fs.fstatSync(fd).size < fileBytes
    if (isNew) {
      fs.writeSync(fd, Buffer.concat([...slots, signed]), 0, fileBytes, 0)
      fs.fsyncSync(fd)
      const folder = fs.openSync(directory, 'r')
      fs.fsyncSync(folder)
      fs.closeSync(folder)
    } else if (unsigned === null) {
      for (const [i, slot] of slots.entries()) found[i]?.copy(slot)
      signed = Buffer.from(found[2])
    }
  }

  const sign = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    if (unsigned === null) return
    const slot = emptySlot()
    fill(slot, contentOf(unsigned, keys.sign(Buffer.from(signedTag + unsigned)).toString('base64')))
    fs.writeSync(fd, slot, 0, slotBytes, slotBytes * 2)
    signed = slot
    unsigned = null
  }

  const signLater = (): void => {
    try {
      sign()
      fs.fdatasync(fd, () => undefined)
    } catch {
      // The next write fails in the same way where somebody waits for it, or tries this again.
    }
  }

  const write = (head: SignedHead): void => {
    const at = head.count % 2 === 0 ? 0 : 1
    const text = JSON.stringify(head)
    const changed = fill(slots[at], contentOf(text, macOf(text, keys)))
    fs.writeSync(fd, changed, 0, changed.length, at * slotBytes)
    last = at
    unsigned = text
    timer ??= setTimeout(signLater, signAfterMs).unref()
  }

  open()
  return {
    write,
    writeSynced(head) {
      write(head)
      fs.fdatasyncSync(fd)
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
      try {
        sign()
        fs.fdatasyncSync(fd)
      } catch {
        // The MACs say the same to whoever has the key.
      }
      fs.closeSync(fd)
      fd = -1
    },
  }
}
