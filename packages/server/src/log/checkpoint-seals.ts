import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { readIfThere, writeNew } from './files.ts'
import type { Sealer, Verifier } from './keys.ts'
import { type Checkpoint, type DamagedNote, type Notes, readNotes } from './note.ts'

export const sealsFile = 'checkpoints.seals'

/** Bytes of a block: some 340 checkpoints, whose signatures take a twentieth of a second. */
const blockBytes = 64 * 1024
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

/**
 * Checkpoints of a file. @SECURITY Whoever can make a seal can sign a checkpoint, too: the seal of a block stands for its
 * signatures, and a block that is not as it was sealed is checked note by note; checkpoints.test.ts.
 */
export const readSealedNotes = (
  bytes: Buffer,
  directory: string,
  verifier: Verifier,
  sealer: Sealer | null,
): SealedNotes => {
  const checkpoints: Checkpoint[] = []
  const damaged: DamagedNote[] = []
  const seals: Seal[] = []
  let isRow = true
  let rest = 0
  let characters = 0
  for (const { at, end, mac } of blocksOf(bytes, sealer ? readSeals(directory) : [])) {
    const block = bytes.subarray(at, end)
    const seal = sealer && sealOf(sealer, at, end, digestOf(block))
    const text = block.toString('utf8')
    const notes = readNotes(text, mac !== null && seal?.mac === mac ? null : verifier)
    for (const checkpoint of notes.checkpoints) checkpoints.push(checkpoint)
    for (const note of notes.damaged) damaged.push({ ...note, at: note.at + characters })
    characters += text.length
    isRow &&= notes.damaged.length === 0 && (mac !== null || end < bytes.length)
    if (!isRow || !seal) continue
    seals.push(seal)
    rest = end
  }
  return { checkpoints, damaged, seals, rest: bytes.subarray(rest) }
}

/**
 * Checkpoints of the copy of a file. Blocks that lie in the file, whose checkpoints are known, need no second check; null
 * where that file is damaged.
 */
export const readCopiedNotes = (copy: Buffer, file: Buffer | null, verifier: Verifier): Notes => {
  const checkpoints: Checkpoint[] = []
  const damaged: DamagedNote[] = []
  let place = 0
  let characters = 0
  for (const { at, end } of blocksOf(copy, [])) {
    const block = copy.subarray(at, end)
    const isHere = file?.subarray(place, place + block.length).equals(block) === true
    const found = isHere || !file ? place : file.indexOf(block, place)
    const isKnown = isHere || (file !== null && found >= 0)
    place = (isKnown ? found : place) + block.length
    const text = block.toString('utf8')
    const notes = readNotes(text, isKnown ? null : verifier)
    for (const checkpoint of notes.checkpoints) checkpoints.push(checkpoint)
    for (const note of notes.damaged) damaged.push({ ...note, at: note.at + characters })
    characters += text.length
  }
  return { checkpoints, damaged }
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
