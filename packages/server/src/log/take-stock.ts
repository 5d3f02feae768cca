import { GatehouseError } from '@gatehouse/contract'
import { createLinker, emptyLog, type LogState, leafOf } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { goneText, idOf } from '../domain/audit/verify-range.ts'
import type { Log } from '../ports/log.ts'
import { type Checkpoints, largestOf, originOf } from './checkpoints.ts'
import type { Frame } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Keys } from './keys.ts'
import type { LogFiles } from './log-files.ts'
import { inserted, moveOut } from './move-out.ts'
import type { Checkpoint } from './note.ts'
import { follow } from './pending-group.ts'
import { isGenuine } from './seal-group.ts'
import { type SetAside, setAsideFile } from './set-aside.ts'
import { type Alarm, type HeadFile, readSignedHead, type SignedHead } from './signed-head.ts'
import { type Anchor, cutOff, verifyChain } from './verify-chain.ts'
import type { Standing } from './writer.ts'

type Parts = {
  readonly files: LogFiles
  readonly directory: string
  /** The state before the first entry that is left. */
  readonly start: LogState
  readonly chain: string
  readonly keys: Keys
  readonly checkpoints: Checkpoints
  readonly head: Pick<HeadFile, 'writeSynced'>
  readonly setAside: SetAside
  readonly log: Pick<Log, 'warn'>
}

export type Stock = {
  readonly standing: Standing
  readonly alarm: Alarm | null
  /** Whether anything sealed says where the log ends. */
  readonly isSealed: boolean
}

const hex = /^[0-9a-f]{64}$/

export const anchorsOf = (checkpoints: readonly Checkpoint[]): Anchor[] =>
  checkpoints.map(({ size, root }) => ({ size, root, source: `checkpoint ${size}` }))

const withoutHead: Alarm = {
  kind: 'anchor_missing',
  seq: 0,
  id: null,
  detail: 'there is no signed head beside the log',
}

/**
 * Compares the log's files with what was sealed, when the service starts. Reads the end of the log only. Groups
 * behind the signed head are taken in where this service sealed them, and moved out of the log where it did not.
 */
export const takeStock = async (parts: Parts): Promise<Stock> => {
  const { files, directory, chain, keys } = parts
  let known = readSignedHead(directory, keys, keys)
  if (known && known.chain !== chain) {
    throw new GatehouseError(
      'InvalidConfiguration',
      {
        origin: directory,
        detail: `this is the audit log of ${known.chain}, but node-id beside it says ${chain}`,
      },
      {
        recovery: [
          {
            action: 'restore the one that is wrong',
            description:
              'Take node-id, or the folder of the log, from a backup of this installation.',
          },
        ],
      },
    )
  }
  if (!known) return unsealed(parts)
  const { alarm } = known
  /** Written at once, with the state that the head had. */
  const keep = (found: Alarm): void => {
    if (!known) return
    known = { ...known, count: known.count + 1, alarm: alarm ?? found }
    parts.head.writeSynced(known)
  }
  const short = shorter(files, known)
  const end = short
    ? { state: stateOf(known), vault: known.vault }
    : followOn({ ...parts, keep }, known)
  const { state, vault } = end
  known = { ...known, alarm }
  return (
    (await rolledBack(parts, known, state)) ?? {
      standing: { ...standingOf(known), state, vault },
      alarm: short ?? ('alarm' in end ? end.alarm : null),
      isSealed: true,
    }
  )
}

const stateOf = ({ size, head, peaks }: SignedHead): LogState => ({ size, head, peaks })

const standingOf = (known: SignedHead): Standing => {
  const { count, epoch, alarm, baseline, vault } = known
  return { state: stateOf(known), count, epoch, alarm, baseline, vault }
}

/** Entries that the head names and the log lacks. A shorter log leaves the state as it is, so that no `seq` is used twice. */
const shorter = (files: LogFiles, { size, head }: SignedHead): Alarm | null => {
  if (size === 0) return null
  const { end } = files
  if (end < size) return cutOff(end, size, files.entry(end - 1) ?? undefined)
  const last = files.entry(size - 1)
  if (last?.hash === head) return null
  return {
    kind: 'modified',
    seq: size - 1,
    id: last ? idOf(last) : null,
    detail: 'the log does not hold the entry that the signed head was made over',
  }
}

type FollowParts = Pick<Parts, 'files' | 'start' | 'chain' | 'keys' | 'setAside' | 'log'> & {
  /** Must have the finding on the disk when it returns. */
  readonly keep: (found: Alarm) => void
}

type End = { readonly state: LogState; readonly vault: string | null; readonly alarm: Alarm | null }

/**
 * Takes in the groups behind a state that this service sealed. What follows the last of them is moved out of the
 * log; damage before it stays where it is, under an alarm.
 */
const followOn = (parts: FollowParts, from: LogState & { readonly vault: string | null }): End => {
  const { files, chain, keys } = parts
  let state: LogState = { size: from.size, head: from.head, peaks: from.peaks }
  let { vault } = from
  for (const frame of files.frames(from.size)) {
    if (frame.first + frame.entries.length <= state.size) continue
    const next = follow(frame, chain, keys, state)
    if (!next) return afterStop(parts, { state, vault }, frame)
    state = next
    vault = frame.note.vault ?? vault
  }
  return { state, vault, alarm: null }
}

const afterStop = (
  { files, start, chain, keys, setAside, log, keep }: FollowParts,
  { state, vault }: Pick<End, 'state' | 'vault'>,
  stop: Frame,
): End => {
  const later = [...files.frames(stop.first)].filter((frame) => isGenuine(keys, chain, frame))
  const last = later.at(-1)
  if (last) {
    const end = last.first + last.entries.length
    if (files.end > end) moveOut({ files, setAside }, end)
    const { seq, id } = { seq: state.size, id: stop.entries[0] ? idOf(stop.entries[0]) : null }
    const detail = 'what lies behind the signed head is damaged'
    return { state: takeIn(files, start), vault, alarm: { kind: 'modified', seq, id, detail } }
  }
  const place = moveOut({ files, setAside }, state.size, (found) => {
    if (stop.intact) keep(inserted(found))
  })
  if (stop.intact) return { state, vault, alarm: inserted(place) }
  // A loss of power leaves any part of a last write unwritten: nobody was answered for it.
  log.warn(
    place,
    `the last write of the audit log was not finished, and nobody was answered for it; it was moved to ${setAsideFile}`,
  )
  return { state, vault, alarm: null }
}

/** A checkpoint that reaches further than log and head: both were put back. */
const rolledBack = async (
  { files, checkpoints, chain }: Parts,
  known: SignedHead,
  state: LogState,
): Promise<Stock | null> => {
  const size = largestOf(checkpoints.of(originOf(chain, known.epoch)))
  if (size <= state.size) return null
  const last = files.entry(state.size - 1)
  return {
    // The tree from here on is not the one that was signed, so its checkpoints need another origin.
    standing: { ...standingOf(known), state, epoch: known.epoch + 1 },
    alarm: {
      kind: 'truncated',
      seq: state.size,
      id: last ? idOf(last) : null,
      detail: `${goneText(size - state.size)} that checkpoint ${size} was made over`,
    },
    isSealed: true,
  }
}

/**
 * A first start, or somebody took away every head: then everything has to be read once. Groups that this service
 * sealed are taken in. Where it sealed none of them, checkpoints say up to where entries are taken in; without any
 * there is nothing that could tell them from forged ones, and all are under the alarm.
 */
const unsealed = async (parts: Parts): Promise<Stock> => {
  const { files, start, chain, checkpoints, keys } = parts
  let epoch = 0
  while (checkpoints.of(originOf(chain, epoch + 1)).length > 0) epoch += 1
  const signed = checkpoints.of(originOf(chain, epoch))
  const fresh: Standing = {
    state: start,
    count: 0,
    epoch,
    alarm: null,
    baseline: null,
    vault: null,
  }
  if (files.isEmpty && signed.length === 0) return { standing: fresh, alarm: null, isSealed: false }
  const ours = [...files.frames()].filter((frame) => isGenuine(keys, chain, frame)).at(-1)
  const end = ours ? ours.first + ours.entries.length : files.end
  if (files.end > end) moveOut({ files, setAside: parts.setAside }, end)
  const anchors = anchorsOf(signed)
  const through = Math.max(files.end, largestOf(signed))
  const entries = (_: string, from: number) => files.entries(from)
  const question = { chain, from: start, through, tree: true, anchors }
  // Where no checkpoint is of this key, seals may be of another one.
  const sealer = signed.length > 0 ? keys : null
  const { fault } = await verifyChain({ ...question, entries, files, sealer })
  const state = takeIn(files, start)
  const last = files.entry(state.size - 1)
  const alarm = fault ?? {
    ...withoutHead,
    seq: Math.max(0, state.size - 1),
    id: last ? idOf(last) : null,
  }
  return {
    standing: { ...fresh, state, epoch: fault ? epoch + 1 : epoch },
    alarm,
    isSealed: false,
  }
}

/** Takes in every entry, sound or not: what is unsound is an alarm, not a lost entry. */
export const takeIn = (files: LogFiles, start: LogState = emptyLog): LogState => {
  const linker = createLinker(hashing)
  const tree = createTree(hashing, start)
  let { head } = start
  for (const group of files.entries(start.size))
    for (const { seq, hash, body } of group) {
      if (seq < tree.size) continue
      // Entries that are gone keep their place in the tree, as leaves of nothing.
      while (tree.size < seq) tree.push(leafOf(linker, tree.size, ''))
      tree.push(leafOf(linker, seq, body))
      if (hex.test(hash)) head = hash
    }
  return { size: tree.size, head, peaks: tree.peaks() }
}
