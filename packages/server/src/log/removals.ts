import fs from 'node:fs'
import path from 'node:path'
import type { Integrity } from '@gatehouse/contract'
import { emptyLog, type LogState } from '../domain/audit/chain.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import { readIfThere, syncFolder } from './files.ts'
import type { Keys, Verifier } from './keys.ts'

export const removalsFile = 'removals.log'

const tag = 'gatehouse-removal-v1\n'

/** A segment that retention removed. */
export type RemovedSegment = {
  readonly first: number
  readonly entries: number
  readonly bytes: number
  readonly sha256: string
}

/** Segments that retention removed, and the state of the log from which what is left goes on. */
export type Removal = LogState & {
  readonly chain: string
  /** The root over everything before `size`. */
  readonly root: string
  /** The first entry that it removed; the entries before that were removed earlier. */
  readonly from: number
  readonly removed_at: string
  readonly reason: 'age' | 'size'
  readonly segments: readonly RemovedSegment[]
  /** Targets that had all of it. */
  readonly exported_to: readonly string[]
  /** The audit entry about it. */
  readonly entry: string
}

/** A removal as a line of the file: the exact text that was signed. */
export type SignedRemoval = { readonly record: string; readonly signature: string }

/** Where a log begins: with its first entry, or behind what retention removed. */
export type LogStart = {
  readonly state: LogState
  readonly removal: Removal | null
  readonly signed: SignedRemoval | null
}

export const logBegin: LogStart = { state: emptyLog, removal: null, signed: null }

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The removal that this key signed; null for anything else. */
export const readRemoval = (
  signed: Partial<SignedRemoval> | null,
  verifier: Verifier,
): LogStart | null => {
  const { record, signature } = signed ?? {}
  if (typeof record !== 'string' || typeof signature !== 'string') return null
  // @SECURITY a writer of unsigned removals could pass off a log without its beginning as a whole one; retention.test.ts.
  if (!verifier.verify(Buffer.from(tag + record), Buffer.from(signature, 'base64'))) return null
  const removal = parse(record) as Removal
  const { size, head, peaks } = removal
  if (!frontierFits(size, peaks)) return null
  return { state: { size, head, peaks }, removal, signed: { record, signature } }
}

/** The beginning of the log of a chain: behind the last removal that this key signed. */
export const readStart = (directory: string, verifier: Verifier, chain: string): LogStart => {
  const text = readIfThere(path.join(directory, removalsFile))?.toString('utf8') ?? ''
  let start = logBegin
  for (const line of text.split('\n')) {
    const found = readRemoval(parse(line) as Partial<SignedRemoval> | null, verifier)
    if (found?.removal?.chain === chain && found.state.size > start.state.size) start = found
  }
  return start
}

/** Signs a removal and keeps it; on the disk when this returns. */
export const addRemoval = (directory: string, keys: Keys, removal: Removal): LogStart => {
  const record = JSON.stringify(removal)
  const signature = keys.sign(Buffer.from(tag + record)).toString('base64')
  const file = path.join(directory, removalsFile)
  const torn = readIfThere(file)?.toString('utf8').endsWith('\n') === false
  const fd = fs.openSync(file, 'a', 0o600)
  try {
    fs.writeSync(fd, `${torn ? '\n' : ''}${JSON.stringify({ record, signature })}\n`)
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
  syncFolder(directory)
  const { size, head, peaks } = removal
  return { state: { size, head, peaks }, removal, signed: { record, signature } }
}

/** Part of an answer about the log that is about entries which are not in it any more. */
export const removedOf = ({ removal }: LogStart): Pick<Integrity, 'removed'> =>
  removal === null
    ? {}
    : {
        removed: {
          entries: removal.size,
          removed_at: removal.removed_at,
          reason: removal.reason,
          head: `sha256:${removal.head}`,
          entry: removal.entry as NonNullable<Integrity['removed']>['entry'],
        },
      }
