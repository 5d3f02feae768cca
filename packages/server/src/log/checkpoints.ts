import fs from 'node:fs'
import path from 'node:path'
import type { CheckpointCopy } from './checkpoint-copy.ts'
import { readIfThere, writeNew } from './files.ts'
import type { Keys } from './keys.ts'
import { type Checkpoint, type Notes, readNotes, signCheckpoint } from './note.ts'
import type { SetAside } from './set-aside.ts'
import type { Alarm } from './signed-head.ts'

export const checkpointsFile = 'checkpoints.log'

/** Names one tree: an epoch begins when an older checkpoint can no longer be honoured. */
export const originOf = (chain: string, epoch: number): string =>
  epoch === 0 ? `gatehouse/audit/${chain}` : `gatehouse/audit/${chain}/${epoch}`

export interface Checkpoints extends Disposable {
  /** Checkpoints of this key and origin, smallest first, also those that only the copy has. */
  of(origin: string): readonly Checkpoint[]

  /** Signs and stores one more. Must not be called for a tree that does not contain the last one. */
  add(origin: string, size: number, root: string): Checkpoint

  /** Finding about a file in which something else stands; null where there is none. */
  readonly alarm: Alarm | null

  /** Moves what is damaged out of the file. Must be called once the alarm is on the disk. */
  mend(setAside: SetAside): void
}

/** Bytes that changed in a file of checkpoints: a checkpoint may be gone that speaks against a shorter log. */
export const checkpointAlarm = ({ checkpoints, damaged }: Notes, file: string): Alarm | null => {
  const [first] = damaged
  if (!first) return null
  // There may be more of them than a call takes arguments.
  const known = checkpoints.reduce((most, { size }) => Math.max(most, size), 0)
  return {
    kind: 'anchor_missing',
    seq: Math.max(0, known - 1),
    id: null,
    detail: `${file} is damaged: from character ${first.at} on it has something else than a checkpoint of this log`,
  }
}

export const loadCheckpoints = (directory: string): string =>
  readIfThere(path.join(directory, checkpointsFile))?.toString('utf8') ?? ''

const merge = (own: readonly Checkpoint[], copied: readonly Checkpoint[]): Checkpoint[] => {
  const notes = new Set(own.map(({ note }) => note))
  return [...own, ...copied.filter(({ note }) => !notes.has(note))].toSorted(
    (a, b) => a.size - b.size,
  )
}

export const openCheckpoints = (
  directory: string,
  keys: Keys,
  copy: CheckpointCopy | null,
): Checkpoints => {
  const file = path.join(directory, checkpointsFile)
  const before = loadCheckpoints(directory)
  const own = readNotes(before, keys)
  const copied = readNotes(copy?.before ?? '', keys)
  // @SECURITY The copy speaks against a data directory that was put back as one; checkpoint-copy.test.ts.
  const known = merge(own.checkpoints, copied.checkpoints)
  let fd = fs.openSync(file, 'a', 0o644)
  // A crash may have torn the last note: the next one starts on a line of its own.
  if (before !== '' && !before.endsWith('\n')) fs.writeSync(fd, '\n\n')
  return {
    of: (origin) => known.filter((checkpoint) => checkpoint.origin === origin),
    add(origin, size, root) {
      const checkpoint = signCheckpoint({ origin, size, root }, keys)
      fs.writeSync(fd, `${checkpoint.note}\n`)
      copy?.add(checkpoint.note)
      known.push(checkpoint)
      return checkpoint
    },
    alarm: checkpointAlarm(own, checkpointsFile),
    mend(setAside) {
      if (own.damaged.length === 0) return
      setAside(own.damaged.map((damage) => ({ file: checkpointsFile, ...damage })))
      fs.closeSync(fd)
      const { checkpoints } = readNotes(loadCheckpoints(directory), keys)
      writeNew(file, checkpoints.map(({ note }) => `${note}\n`).join(''), 0o644)
      fd = fs.openSync(file, 'a', 0o644)
    },
    [Symbol.dispose]() {
      fs.fdatasyncSync(fd)
      fs.closeSync(fd)
    },
  }
}
