import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { readIfThere, writeNew } from './files.ts'
import type { Sealer, Verifier } from './keys.ts'
import { type Checkpoint, type DamagedNote, type Notes, readNotes } from './note.ts'

export const sealsFile = 'checkpoints.seals'

/** Bytes of a block: some 340 checkpoints, whose signatures take a twentieth of a second. */
const blockBytes = 64 * 1024
/** Blocks at the end whose checkpoints are all kept in memory: some 5,000. */
const wholeBlocks = 16
/** Beginning of the next note behind the end of the one before it. */
const noteBegin = Buffer.from('\n\ngatehouse/audit/')

/** Block of the file from the end of the one before it, and the MAC of its bytes. */
type Seal = { readonly end: number; readonly mac: string }

const lineOf = ({ end, mac }: Seal): string => `${end} ${mac}\n`

const sealOf = (sealer: Sealer, at: number, end: number, digest: string): Seal => {
  const mac = sealer.mac(`gatehouse-checkpoints-v1\n${at} ${end} ${digest}\n`)
  return { end, mac: mac.toString('base64') }
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const readSeals = (directory: string): readonly Seal[] => {
  const text = readIfThere(path.join(directory, sealsFile))?.toString('latin1') ?? ''
  return [...text.matchAll(/^(\d{1,15}) ([A-Za-z0-9+/]{43}=)$/gm)].map(([, end, mac = '']) => ({
    end: Number(end),
    mac,
  }))
}

type Block = { readonly at: number; readonly end: number; readonly mac: string | null }

/** Blocks as they were sealed, then those that nobody has sealed yet; the last one may still grow. */
function* blocksOf(bytes: Buffer, seals: readonly Seal[]): Generator<Block> {
  let at = 0
  for (const { end, mac } of seals) {
    if (end <= at || end > bytes.length) break
    yield { at, end, mac }
    at = end
  }
  while (at < bytes.length) {
    const next = bytes.indexOf(noteBegin, at + blockBytes)
    const end = next < 0 ? bytes.length : next + 2
    yield { at, end, mac: null }
    at = end
  }
}

export type SealedNotes = Notes & {
  /** Seals of all blocks that are complete and undamaged, in order. */
  readonly seals: readonly Seal[]
  /** Bytes behind the last seal. */
  readonly rest: Buffer
}

/** Notes of one part of a text after the other. */
class FoundNotes {
  readonly #checkpoints: Checkpoint[] = []
  readonly #damaged: DamagedNote[] = []
  #characters = 0

  get notes(): Notes {
    return { checkpoints: this.#checkpoints, damaged: this.#damaged }
  }

  /** Takes those of the next part, which has so many characters. */
  add({ checkpoints, damaged }: Notes, characters: number): void {
    for (const checkpoint of checkpoints) this.#checkpoints.push(checkpoint)
    for (const note of damaged) this.#damaged.push({ ...note, at: note.at + this.#characters })
    this.#characters += characters
  }
}

const endOf = (seal: Seal | undefined): number => seal?.end ?? 0

const lastNoteIn = (text: string): string =>
  text.slice(Math.max(0, text.lastIndexOf(noteBegin.toString())))

/** How much of a file is wanted: each checkpoint, or of the older blocks that nobody changed the last one. */
export type Reach = 'all' | 'spread'

/**
 * Checkpoints of a file. @SECURITY Whoever can make a seal can sign a checkpoint, too: the seal of a block stands for its
 * signatures, and a block that is not as it was sealed is checked note by note; checkpoints.test.ts.
 */
export const readSealedNotes = (
  bytes: Buffer,
  directory: string,
  verifier: Verifier,
  sealer: Sealer | null,
  reach: Reach,
): SealedNotes => {
  const found = new FoundNotes()
  const seals: Seal[] = []
  const known = sealer ? readSeals(directory) : []
  const newest = reach === 'all' ? 0 : endOf(known.at(-wholeBlocks))
  let isRow = true
  let rest = 0
  for (const { at, end, mac } of blocksOf(bytes, known)) {
    const block = bytes.subarray(at, end)
    const seal = sealer && sealOf(sealer, at, end, digestOf(block))
    const text = block.toString('utf8')
    const isSound = mac !== null && seal?.mac === mac
    const notes = isSound
      ? readNotes(end >= newest ? text : lastNoteIn(text), null)
      : readNotes(text, verifier)
    found.add(notes, text.length)
    isRow &&= notes.damaged.length === 0 && (mac !== null || end < bytes.length)
    if (!isRow || !seal) continue
    seals.push(seal)
    rest = end
  }
  return { ...found.notes, seals, rest: bytes.subarray(rest) }
}

const nothing: Notes = { checkpoints: [], damaged: [] }

/** Checkpoints of the copy of a file that lie in none of its blocks; null where that file is damaged. */
export const readCopiedNotes = (copy: Buffer, file: Buffer | null, verifier: Verifier): Notes => {
  const notes = new FoundNotes()
  let place = 0
  for (const { at, end } of blocksOf(copy, [])) {
    const block = copy.subarray(at, end)
    const isHere = file?.subarray(place, place + block.length).equals(block) === true
    const found = isHere || !file ? place : file.indexOf(block, place)
    const isKnown = isHere || (file !== null && found >= 0)
    place = (isKnown ? found : place) + block.length
    const text = block.toString('utf8')
    notes.add(isKnown ? nothing : readNotes(text, verifier), text.length)
  }
  return notes.notes
}

/** Seals what is added to the file of checkpoints, block by block. What is sealed is what was written, not what lies there. */
export class CheckpointSealer {
  readonly #file: string
  readonly #sealer: Sealer
  #isOpen = false
  #at = 0
  #end = 0
  #digest: Hash = createHash('sha256')

  constructor(directory: string, sealer: Sealer) {
    this.#file = path.join(directory, sealsFile)
    this.#sealer = sealer
  }

  /** Goes on behind these blocks. @SECURITY Damage is never sealed: until it is mended nothing is; checkpoints.test.ts. */
  begin({ seals, rest, damaged }: SealedNotes): void {
    this.#isOpen = damaged.length === 0
    if (!this.#isOpen) return
    this.#at = seals.at(-1)?.end ?? 0
    this.#end = this.#at
    this.#digest = createHash('sha256')
    const text = seals.map(lineOf).join('')
    if ((readIfThere(this.#file)?.toString('latin1') ?? '') !== text)
      writeNew(this.#file, text, 0o600)
    this.add(rest)
  }

  /** Seals of bytes that lie elsewhere in the file by now would cut checkpoints in two. */
  forget(): void {
    fs.rmSync(this.#file, { force: true })
  }

  add(bytes: Buffer): void {
    if (!this.#isOpen) return
    this.#digest.update(bytes)
    this.#end += bytes.length
    if (this.#end - this.#at < blockBytes) return
    const seal = sealOf(this.#sealer, this.#at, this.#end, this.#digest.digest('hex'))
    this.#at = this.#end
    this.#digest = createHash('sha256')
    try {
      fs.appendFileSync(this.#file, lineOf(seal), { mode: 0o600 })
    } catch {
      // The next start checks the signatures of this block.
    }
  }
}
