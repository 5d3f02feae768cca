import { type AgentMove, GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { MetaStore, Storage } from '../../ports/storage.ts'
import type { Workspaces } from '../../ports/workspaces.ts'

/** Moves by the name of their agent. */
const movesKey = 'agent_moves'

type UnderWay = AgentMove & { readonly from_site: string; readonly to_site: string }

type Moving = Pick<StoredAgent, 'name' | 'site'>

export type StoredMove = {
  /** Until the agent is resumed where it goes. */
  readonly under_way: UnderWay | null
  /** Folders of workspaces from which the agent went, and where what is left of it is to be set aside. */
  readonly left: readonly string[]
  /** Whether a call of the agent runs at each node that has said so, since its record was of that generation; while somebody asks. */
  readonly asked?: { readonly generation: number; readonly runs: Readonly<Record<string, boolean>> }
}

export const still: StoredMove = { under_way: null, left: [] }

export async function readMoves(meta: MetaStore): Promise<Readonly<Record<string, StoredMove>>> {
  return parseStored((await meta.get(movesKey)) ?? '{}', `meta.${movesKey}`)
}

/** Inside a transaction, which no other one splits. */
export async function changeMove(
  meta: MetaStore,
  agent: string,
  change: (move: StoredMove) => StoredMove,
): Promise<void> {
  const { [agent]: before, ...others } = await readMoves(meta)
  const move = change(before ?? still)
  const isOver = move.under_way === null && move.left.length === 0 && !move.asked
  if (isOver && !before) return
  await meta.set(movesKey, JSON.stringify(isOver ? others : { ...others, [agent]: move }))
}

/** The move that still counts: a node of the version before takes an agent without knowing of any. */
export const underWay = (move: StoredMove | undefined, { site }: Moving): UnderWay | null =>
  move?.under_way?.to_site === site ? (move?.under_way ?? null) : null

/** Move of an agent that is not resumed yet. */
export async function moveOf(meta: MetaStore, agent: Moving): Promise<AgentMove | null> {
  const found = underWay((await readMoves(meta))[agent.name], agent)
  if (!found) return null
  const { from, to, ready, set_aside } = found
  return { from, to, ready, set_aside }
}

const copyText = (agent: string, { from, to }: AgentMove): string =>
  `copy workspaces/${agent} from ${from.node} to ${to.node}, then resume it there`

/** Words on why the workspace of an agent of this node is not here. */
export async function whyMissing(
  { storage }: { readonly storage: Pick<Storage, 'meta'> },
  agent: Moving,
): Promise<string> {
  const move = await moveOf(storage.meta, agent)
  return move
    ? `it is on its way; ${copyText(agent.name, move)}`
    : `its folder workspaces/${agent.name} is gone; bring it from a backup, or make an empty one`
}

/**
 * The end of a move: a person says that the copy is complete, by resuming the agent. Raises `AgentStateConflict` elsewhere than
 * at the node that can see the folder, and before it is there.
 */
export async function endMove(
  deps: {
    readonly node: string
    readonly workspaces: Pick<Workspaces, 'site' | 'holds'>
  },
  agent: Moving & Pick<StoredAgent, 'status'>,
  meta: MetaStore,
): Promise<void> {
  const move = await moveOf(meta, agent)
  if (!move) return
  const { name, status } = agent
  const refused = (detail: string) =>
    new GatehouseError('AgentStateConflict', { agent: name, status, detail })
  const { node, workspaces } = deps
  // A store that moved to one node has nothing else to go to.
  if (workspaces.site !== null) {
    if (move.to.node !== node)
      throw refused(
        `it moves to ${move.to.node}; resume it there, since that node alone sees its folder`,
      )
    if (!move.ready || !workspaces.holds(name))
      throw refused(`its folder is not here yet; ${copyText(name, move)}`)
  }
  await changeMove(meta, name, ({ under_way, left }) => ({
    under_way: null,
    left: under_way ? [...left, under_way.from_site] : left,
  }))
}
