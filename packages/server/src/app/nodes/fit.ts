import { GatehouseError } from '@gatehouse/contract'
import { clockAheadMs, clockOffMaxMs, standingOf } from '../../domain/nodes.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Basics } from '../call/basics.ts'

export type NodeIdentity = {
  readonly node: string
  /** Machine and data directory of this process. */
  readonly place: string
}

const seconds = (ms: number): string => `${(Math.abs(ms) / 1000).toFixed(1)} s`

/** How far this node's clock is ahead of the store's. */
export async function clockAhead({
  storage,
  clock,
}: Pick<Basics, 'storage' | 'clock'>): Promise<number> {
  const askedMs = clock.wall()
  const storeMs = await storage.wallMs()
  return clockAheadMs(askedMs, storeMs, clock.wall())
}

/** Fault of a clock that is so far ahead; null where nothing is. */
export const clockFault = (aheadMs: number): string | null =>
  Math.abs(aheadMs) <= clockOffMaxMs
    ? null
    : `its clock is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`

/**
 * Refuses to begin with a name that another process goes by.
 * @SECURITY Two that write one chain fork it, and each finds the other's entries forged; several-nodes.test.ts, "a copy".
 */
export async function assertOwnName(
  { storage }: Pick<Basics, 'storage'>,
  { node, place }: NodeIdentity,
): Promise<void> {
  if (!storage.isNetworked) return
  const known = await storage.nodes.find(node)
  if (!known || known.place === place) return
  const standing = standingOf(known, await storage.wallMs())
  if (standing !== 'active' && standing !== 'draining') return
  throw new GatehouseError(
    'NodeUnfit',
    { detail: `${node} runs at ${known.place}, and this data directory is a copy of that one` },
    {
      recovery: [
        {
          action: 'an empty data directory',
          description: 'Give each node one of its own; a copy cannot run beside the original.',
        },
        {
          action: 'wait 10 s',
          description: 'If it was moved here and the other has ended, start it again then.',
        },
      ],
    },
  )
}

const copyKey = {
  action: 'copy vault.key',
  description: 'Copy it from the data directory of a node that serves into this one, mode 600.',
}

/** Refuses to serve with another clock or another vault key than the other nodes have. */
export async function assertNodeFits(
  deps: Pick<Basics, 'storage' | 'clock'> & {
    readonly node: string
    readonly vault: Pick<Vault, 'state'>
  },
): Promise<void> {
  const { storage, node, vault } = deps
  if (!storage.isNetworked) return
  const fault = clockFault(await clockAhead(deps))
  if (fault)
    throw new GatehouseError(
      'NodeUnfit',
      { detail: `${fault}, and at most ${seconds(clockOffMaxMs)} is allowed` },
      {
        recovery: [
          { action: 'set the clock', description: 'Let NTP keep the time on every machine.' },
        ],
      },
    )
  const { locked, mode, reason } = vault.state()
  if (locked && mode === 'key_file' && otherNodes(await storage.nodes.list(), node).length > 0)
    throw new GatehouseError(
      'NodeUnfit',
      { detail: `it cannot open the vault that the nodes share: ${reason}` },
      { recovery: [copyKey] },
    )
}

export const otherNodes = (nodes: readonly StoredNode[], own: string): readonly StoredNode[] =>
  nodes.filter(({ name }) => name !== own)
