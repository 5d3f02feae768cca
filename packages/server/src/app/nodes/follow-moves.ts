import type { Workspaces } from '../../ports/workspaces.ts'
import { changeMove, readMoves, type StoredMove } from '../agents/agent-moves.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'

export type FollowMovesDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly workspaces: Pick<Workspaces, 'site' | 'setAside'>
  readonly signal: AbortSignal
}

/** The move once this node has set aside what it has of the agent; undefined where it has nothing to do with it. */
const nextOf = (
  { node, workspaces }: FollowMovesDeps,
  { under_way, left }: StoredMove,
): StoredMove | undefined => {
  const comes = under_way?.to.node === node && !under_way.ready
  if (!comes && !left.some((site) => site === workspaces.site)) return undefined
  return {
    under_way: comes ? { ...under_way, ready: true } : under_way,
    left: left.filter((site) => site !== workspaces.site),
  }
}

/**
 * Sets aside what a workspace that comes here would be taken for, and what is left of one that went.
 * @SECURITY An older folder is never taken for the workspace, when the agent comes back or its node is lost; move-agent.test.ts.
 */
export async function followMoves(deps: FollowMovesDeps): Promise<void> {
  const { storage, auditLog, workspaces, clock, log, node } = deps
  for (const [agent, known] of Object.entries(await readMoves(storage.meta))) {
    if (!nextOf(deps, known)) continue
    // A transaction may run more than once, and finds nothing to rename then.
    let set_aside: string | null = null
    await auditLog.transaction(async (tx) => {
      const move = (await readMoves(tx.meta))[agent]
      const next = move && nextOf(deps, move)
      if (!next) return
      const { under_way, left } = next
      const comes = move.under_way !== under_way
      const isHere = (await tx.agents.find(agent))?.site === workspaces.site
      // Folders of agents that are here are in use, unless one is to come.
      if (comes || !isHere) set_aside ??= workspaces.setAside(agent, clock.wall())
      await changeMove(tx.meta, agent, (now) => ({
        ...now,
        under_way: comes && under_way ? { ...under_way, set_aside } : under_way,
        left,
      }))
      if (set_aside === null) return
      log.info({ agent, folder: set_aside }, 'set an older workspace of an agent aside')
      const facts = { name: agent, folder: set_aside, node }
      tx.append(actDraft(systemOp(deps), 'agent.folder_set_aside', { agent, arguments: facts }))
    })
  }
}
