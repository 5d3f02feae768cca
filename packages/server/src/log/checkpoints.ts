import fs from 'node:fs'
import path from 'node:path'
import type { CheckpointCopy } from './checkpoint-copy.ts'
import {
  CheckpointSealer,
  type Reach,
  readCopiedNotes,
  readSealedNotes,
  type SealedNotes,
} from './checkpoint-seals.ts'
import { readIfThere, writeNew } from './files.ts'
import type { Keys, Sealer, Verifier } from './keys.ts'
import { type Checkpoint, damageBeside, type Notes, signCheckpoint } from './note.ts'
import type { SetAside } from './set-aside.ts'
import type { Alarm } from './signed-head.ts'

export const checkpointsFile = 'checkpoints.log'
const lineEnd = 0x0a

/** Names one tree: an epoch begins when an older checkpoint can no longer be honoured. */
export const originOf = (chain: string, epoch: number): string =>
  epoch === 0 ? `gatehouse/audit/${chain}` : `gatehouse/audit/${chain}/${epoch}`

export interface Checkpoints extends Disposable {
  /**
   * Checkpoints of this key and origin, smallest first, also those that only the copy has: the newest thousands, and of
   * those before them one in some hundreds.
   */
  of(origin: string): readonly Checkpoint[]

  /** The same with each of them, read from the file: for what is done rarely. */
  all(origin: string): readonly Checkpoint[]

  /** Signs and stores one more. Must not be called for a tree that does not contain the last one. */
  add(origin: string, size: number, root: string): Checkpoint

  /** Finding about the file, or its copy, in which something else stands; null where there is none. */
  readonly alarm: Alarm | null

  /** Moves what is damaged out of the files. Must be called once the alarm is on the disk. */
  mend(setAside: SetAside): void
}

/** There may be more of them than a call takes arguments: one a minute is half a million a year. */
export const largestOf = (checkpoints: readonly Checkpoint[]): number =>
  checkpoints.reduce((most, { size }) => Math.max(most, size), 0)

/** Bytes that changed in a file of checkpoints: a checkpoint may be gone that speaks against a shorter log. */
export const checkpointAlarm = ({ checkpoints, damaged }: Notes, file: string): Alarm | null => {
  const [first] = damaged
  if (!first) return null
  return {
    kind: 'anchor_missing',
    seq: Math.max(0, largestOf(checkpoints) - 1),
    id: null,
    detail: `${file} is damaged: from character ${first.at} on it has something else than a checkpoint of this log`,
  }
}

const readBytes = (directory: string): Buffer =>
  readIfThere(path.join(directory, checkpointsFile)) ?? Buffer.alloc(0)

/** The checkpoints beside a log. Whoever can read its key need not check each signature again. */
export const readCheckpointFile = (
  directory: string,
  verifier: Verifier,
  sealer: Sealer | null,
): SealedNotes => readSealedNotes(readBytes(directory), directory, verifier, sealer, 'spread')

/** Checkpoints in memory, of which those before the newest are thinned out. */
const knownMax = 16_384
const wholeMin = 4_096
const oneIn = 256

const spread = (known: readonly Checkpoint[]): Checkpoint[] => {
  const older = known.length - wholeMin
  return known.filter((_, at) => at >= older || at % oneIn === 0)
}

const merge = (own: readonly Checkpoint[], copied: readonly Checkpoint[]): Checkpoint[] => {
  if (copied.length === 0) return own.toSorted((a, b) => a.size - b.size)
  const notes = new Set(own.map(({ note }) => note))
  return [...own, ...copied.filter(({ note }) => !notes.has(note))].toSorted(
    (a, b) => a.size - b.size,
  )
}

export const openCheckpoints = (
  directory: string,
  chain: string,
  keys: Keys,
  copy: CheckpointCopy | null,
): Checkpoints => {
  const file = path.join(directory, checkpointsFile)
  const before = readBytes(directory)
  const ofFile = (bytes: Buffer, reach: Reach) =>
    readSealedNotes(bytes, directory, keys, keys, reach)
  const own = ofFile(before, 'spread')
  const { damaged } = own
  const copied = copy && readCopiedNotes(copy.read(), damaged.length > 0 ? null : before, keys)
  const inCopy = damageBeside(copied?.damaged ?? [], chain)
  // @SECURITY The copy speaks against a data directory that was put back as one; checkpoint-copy.test.ts.
  let known = merge(own.checkpoints, copied?.checkpoints ?? [])
  const sealer = new CheckpointSealer(directory, keys)
  let fd = fs.openSync(file, 'a', 0o644)
  const write = (bytes: Buffer): void => {
    fs.writeSync(fd, bytes)
    sealer.add(bytes)
  }
  sealer.begin(own)
  // A crash may have torn the last note: the next one starts on a line of its own.
  if (before.length > 0 && before.at(-1) !== lineEnd) write(Buffer.from('\n\n'))
  return {
    of: (origin) => known.filter((checkpoint) => checkpoint.origin === origin),
    all: (origin) =>
      merge(ofFile(readBytes(directory), 'all').checkpoints, known).filter(
        (checkpoint) => checkpoint.origin === origin,
      ),
    add(origin, size, root) {
      const checkpoint = signCheckpoint({ origin, size, root }, keys)
      write(Buffer.from(`${checkpoint.note}\n`))
      copy?.add(checkpoint.note)
      known.push(checkpoint)
      if (known.length > knownMax) known = spread(known)
      return checkpoint
    },
    alarm:
      checkpointAlarm(own, checkpointsFile) ??
      (copy && checkpointAlarm({ checkpoints: known, damaged: inCopy }, copy.file)),
    mend(setAside) {
      if (copy && inCopy.length > 0) {
        setAside(inCopy.map((damage) => ({ file: copy.file, ...damage })))
        copy.cutOut(inCopy)
      }
      if (damaged.length === 0) return
      setAside(damaged.map((damage) => ({ file: checkpointsFile, ...damage })))
      fs.closeSync(fd)
      // Read again: what a start had read would stay in memory for this.
      const { checkpoints } = ofFile(readBytes(directory), 'all')
      sealer.forget()
      const text = checkpoints.map(({ note }) => `${note}\n`).join('')
      writeNew(file, text, 0o644)
      fd = fs.openSync(file, 'a', 0o644)
      sealer.begin(ofFile(Buffer.from(text), 'spread'))
    },
    [Symbol.dispose]() {
      fs.fdatasyncSync(fd)
      fs.closeSync(fd)
    },
  }
}
