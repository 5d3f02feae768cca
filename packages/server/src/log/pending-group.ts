import { createLinker, type LogState } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import type { MetaStore } from '../ports/storage.ts'
import { decodeFrame, type Frame, readHead } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Sealer } from './keys.ts'
import { isGenuine } from './seal-group.ts'

/** Where the store keeps the last group that it committed together with changes of its own. */
export const pendingKey = (chain: string): string => `audit.pending.${chain}`

/** A group that goes on from a state, and where the log stands with it. */
export type NextGroup = {
  readonly frame: Buffer
  readonly state: LogState
  readonly vault: string | null
}

/** Where the log stands after a frame of ours that goes on from this state; null for any other frame. */
export const follow = (
  frame: Frame,
  chain: string,
  sealer: Sealer,
  from: LogState,
): LogState | null => {
  if (frame.first !== from.size || !isGenuine(sealer, chain, frame)) return null
  const linker = createLinker(hashing)
  const tree = createTree(hashing, from)
  let { head } = from
  for (const { seq, hash, body } of frame.entries) {
    head = linker.link(head, seq, body)
    if (head !== hash) return null
    tree.push(linker.leaf())
  }
  return { size: tree.size, head, peaks: tree.peaks() }
}

/**
 * The group that the store committed and that the log does not have; null where there is none.
 * @SECURITY Only what this service sealed is taken in; forged-entries.test.ts fails without it.
 */
export const readPending = async (
  meta: Pick<MetaStore, 'get'>,
  chain: string,
  sealer: Sealer,
  from: LogState,
): Promise<NextGroup | null> => {
  const content = await meta.get(pendingKey(chain))
  if (content === null) return null
  const bytes = Buffer.from(content, 'base64')
  const head = readHead(bytes, 0)
  if (head?.bytes !== bytes.length) return null
  const frame = decodeFrame(bytes, head)
  const state = follow(frame, chain, sealer, from)
  return state && { frame: bytes, state, vault: frame.note.vault }
}
