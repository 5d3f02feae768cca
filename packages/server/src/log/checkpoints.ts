import fs from 'node:fs'
import path from 'node:path'
import type { CheckpointCopy } from './checkpoint-copy.ts'
import { readIfThere } from './files.ts'
import type { Keys } from './keys.ts'
import { type Checkpoint, readCheckpoints, signCheckpoint } from './note.ts'

export const checkpointsFile = 'checkpoints.log'

/** Names one tree: an epoch begins when an older checkpoint can no longer be honoured. */
export const originOf = (chain: string, epoch: number): string =>
  epoch === 0 ? `gatehouse/audit/${chain}` : `gatehouse/audit/${chain}/${epoch}`

export interface Checkpoints extends Disposable {
  /** Checkpoints of this key and origin, smallest first, also those that only the copy has. */
  of(origin: string): readonly Checkpoint[]

  /** Signs and stores one more. Must not be called for a tree that does not contain the last one. */
  add(origin: string, size: number, root: string): Checkpoint
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
  const before = loadCheckpoints(directory)
  // @SECURITY The copy speaks against a data directory that was put back as one; checkpoint-copy.test.ts.
  const known = merge(readCheckpoints(before, keys), readCheckpoints(copy?.before ?? '', keys))
  const fd = fs.openSync(path.join(directory, checkpointsFile), 'a', 0o644)
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
    [Symbol.dispose]() {
      fs.fdatasyncSync(fd)
      fs.closeSync(fd)
    },
  }
}
