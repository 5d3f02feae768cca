import { GatehouseError } from '@gatehouse/contract'
import { standingOf } from '../../domain/nodes.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { changeMove } from '../agents/agent-moves.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { factsIn } from './node-record.ts'

export type SiteDeps = Pick<Basics, 'storage' | 'auditLog' | 'ids'> & {
  readonly node: string
  readonly workspaces: Pick<Workspaces, 'site' | 'holds' | 'setAside'>
  readonly directory: Pick<AgentDirectory, 'changed' | 'changing'>
  readonly signal: AbortSignal
}

export const runs = (node: StoredNode, nowMs: number): boolean =>
  ['active', 'draining'].includes(standingOf(node, nowMs))

type Marked = { readonly workspaces: Pick<Workspaces, 'site' | 'markOf'> }

/** Other nodes that run and say that they have this node's folder of workspaces. */
const sharers = (
  { workspaces }: Marked,
  others: readonly StoredNode[],
  nowMs: number,
): readonly StoredNode[] =>
  others.filter(
    (other) =>
      workspaces.site !== null && factsIn(other).site === workspaces.site && runs(other, nowMs),
  )

/** Of these the marks that this node sees in the folder. */
export const marksSeen = (
  deps: Marked,
  others: readonly StoredNode[],
  nowMs: number,
): readonly string[] =>
  sharers(deps, others, nowMs).flatMap((other) => {
    const { site_mark } = factsIn(other)
    return site_mark !== null && deps.workspaces.markOf(other.name) === site_mark ? [site_mark] : []
  })

/** Of these the ones for which the folder may be a copy: one of the two does not see the mark of the other. */
export const copiesOf = (
  deps: Marked,
  mark: string | null,
  others: readonly StoredNode[],
  nowMs: number,
): readonly StoredNode[] => {
  const seen = marksSeen(deps, others, nowMs)
  return sharers(deps, others, nowMs).filter((other) => {
    const { site_mark, sees_marks } = factsIn(other)
    return site_mark !== null && !(seen.includes(site_mark) && sees_marks.includes(mark ?? ''))
  })
}

/** Raises `NodeUnfit` where agents would see other paths than on a node that has the same folder. */
export function assertSamePath(
  deps: { readonly workspaces: Pick<Workspaces, 'site' | 'path' | 'markOf'> },
  others: readonly StoredNode[],
  nowMs: number,
): void {
  const { path } = deps.workspaces
  for (const other of sharers(deps, others, nowMs)) {
    const { site_path } = factsIn(other)
    if (site_path === null || site_path === path) continue
    throw new GatehouseError(
      'NodeUnfit',
      {
        detail: `it has the folder of workspaces of ${other.name} at ${path}, where that node has it at ${site_path}`,
      },
      {
        recovery: [
          {
            action: 'use the same path',
            description:
              'Mount the folder at the same path on all nodes, and make `workspaces` a link to it.',
          },
        ],
      },
    )
  }
}

export const copyRefusal = ({ name, place }: StoredNode): GatehouseError =>
  new GatehouseError(
    'NodeUnfit',
    {
      detail: `its folder of workspaces has the id of that of ${name} (${place}), and the two do not see each other's marks there`,
    },
    {
      recovery: [
        {
          action: 'mount the folder',
          description:
            'Mount the folder of workspaces of that node here, so that both see the same one.',
        },
        {
          action: 'give it an id of its own',
          description: 'If it is a copy, remove the file .gatehouse-site in it.',
        },
      ],
    },
  )

/** Whether it is another node, and runs, and has that folder of workspaces where one is given. */
export async function isOtherServing(
  { storage, node }: Pick<Basics, 'storage'> & { readonly node: string },
  name: string,
  site: string | null = null,
): Promise<boolean> {
  if (name === node) return false
  const found = await storage.nodes.find(name)
  if (found === null || !runs(found, await storage.wallMs())) return false
  return site === null || factsIn(found).site === site
}

/** Words on which node has a folder of workspaces now. */
export async function whereIs(
  { storage, faultOf }: Pick<Basics, 'storage'> & { faultOf(node: string): string | null },
  wanted: string,
): Promise<string> {
  const nowMs = await storage.wallMs()
  const having = (await storage.nodes.list()).filter((node) => factsIn(node).site === wanted)
  const running = having.find((node) => runs(node, nowMs))
  if (running) {
    const { name, address, place } = running
    const fault = faultOf(name)
    const why = fault === null ? '' : `, and this node can't reach it (${fault})`
    return `${name} has it, at ${address ?? place}${why}`
  }
  const [gone] = having
  return gone
    ? `${gone.name} (${gone.place}) has it, which does not run now`
    : 'no node that is known has it'
}

/**
 * Binds agents to this node whose workspace is here and whose folder of workspaces no node has: agents of a version
 * that did not say, and those whose workspace was brought here from a node that is forgotten.
 */
export async function takeAgents(deps: SiteDeps): Promise<void> {
  const { storage, workspaces, auditLog, directory } = deps
  const { site } = workspaces
  if (site === null) return
  const known = new Set((await storage.nodes.list()).map((node) => factsIn(node).site))
  const isLost = (agent: StoredAgent): boolean =>
    agent.site === null || (agent.site !== site && !known.has(agent.site))
  const lost = (await storage.agents.list()).filter(isLost)
  for (const { name } of lost.filter((agent) => workspaces.holds(agent.name))) {
    const taken = await directory.changing(() =>
      auditLog.transaction(async (tx) => {
        const current = await tx.agents.find(name)
        if (!current || !isLost(current)) return null
        const next = { ...current, site, generation: current.generation + 1 }
        if (!(await tx.agents.replace(current, next))) return null
        await changeMove(tx.meta, name, ({ left }) => ({
          under_way: null,
          left: left.filter((other) => other !== site),
        }))
        tx.append(
          actDraft(systemOp(deps), 'agent.placed', {
            agent: name,
            arguments: { name, site, node: deps.node },
          }),
        )
        return next
      }),
    )
    if (taken) directory.changed(taken)
  }
}
