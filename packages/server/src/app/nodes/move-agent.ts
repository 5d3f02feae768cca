import {
  type AgentMove,
  GatehouseError,
  type MoveAgent,
  type MovedAgent,
} from '@gatehouse/contract'
import { standingOf } from '../../domain/nodes.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { Stores } from '../../ports/storage.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import {
  changeMove,
  moveOf,
  readMoves,
  type StoredMove,
  still,
  underWay,
} from '../agents/agent-moves.ts'
import { agentRecord } from '../agents/agent-record.ts'
import { pausedWithAll } from '../agents/service-pause.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import { awaitStill, type StillDeps } from './await-still.ts'
import { type FollowMovesDeps, followMoves } from './follow-moves.ts'
import { factsIn } from './node-record.ts'
import { isOtherServing, runs } from './sites.ts'

type Deps = FollowMovesDeps &
  StillDeps &
  Pick<Basics, 'events'> & {
    readonly version: string
    readonly directory: Pick<AgentDirectory, 'changed' | 'changing'>
  }

const lookAgainMs = 250
const looksMax = 40
const lostAtOnceMax = 1_000

const refused = (detail: string): GatehouseError => new GatehouseError('Conflict', { detail })

/** Words on what of the agent runs, and what to do about it; null where nothing does. */
async function whatRuns(tx: Stores, { name }: StoredAgent): Promise<string | null> {
  const running = { agent: name, state: 'running', limit: 1, offset: 0 } as const
  const [program] = (await tx.processes.list(running)).processes
  if (program)
    return `its program ${program.id} (${program.command}) runs; end it: gatehouse processes kill ${program.id}`
  const approved = await tx.approvals.listByExecution('running', lostAtOnceMax)
  const approval = approved.find(({ agent }) => agent === name)
  if (approval) return `its approved call ${approval.id} (${approval.capability}) runs; wait for it`
  // Of any lease: each that runs now.
  const jobs = await tx.jobs.listLost({ nowMs: Number.MAX_SAFE_INTEGER, limit: lostAtOnceMax })
  const job = jobs.find(({ agent }) => agent === name)
  return job ? `a call of its schedule ${job.subject} runs; wait for it` : null
}

const inTheWay = ({ name, status }: StoredAgent, detail: string): GatehouseError =>
  new GatehouseError('AgentStateConflict', { agent: name, status, detail })

/** Raises `AgentStateConflict` unless a person paused the agent by name, and nothing of it runs. */
async function assertStill(tx: Stores, agent: StoredAgent): Promise<void> {
  const { name, status } = agent
  const find = async (): Promise<string | null> => {
    if (status === 'active') return `pause it first: gatehouse agent pause ${name}`
    if (status === 'revoked') return 'restore it first'
    if ((await pausedWithAll(tx.meta)).includes(name))
      return `it would be resumed with all others; pause it by name: gatehouse agent pause ${name}`
    return whatRuns(tx, agent)
  }
  const detail = await find()
  if (detail !== null) throw inTheWay(agent, detail)
}

/** The node that gets the agent, as far as it can take one. */
function targetOf(nodes: readonly StoredNode[], to: string, version: string, nowMs: number) {
  const node = nodes.find(({ name }) => name === to)
  if (!node) throw new GatehouseError('NodeNotFound', { name: to })
  const status = standingOf(node, nowMs)
  if (status === 'draining')
    throw refused(
      `to: ${to} is draining; choose another node, or run: gatehouse nodes resume ${to}`,
    )
  if (status !== 'active') throw refused(`to: ${to} is ${status}; choose another node, or start it`)
  if (node.version !== version)
    throw refused(
      `to: ${to} runs ${node.version} and this node ${version}; upgrade all nodes first`,
    )
  return node
}

const folderOf = (node: StoredNode, agent: string): string =>
  `${factsIn(node).site_path ?? 'workspaces'}/${agent}`

/** The move to a node, after the one before it. */
function planMove(
  agent: StoredAgent,
  move: StoredMove,
  nodes: readonly StoredNode[],
  target: StoredNode,
  nowMs: number,
): StoredMove {
  const { name, site } = agent
  const { left } = move
  const under_way = underWay(move, agent)
  const to = target.name
  const to_site = factsIn(target).site
  if (to_site === null)
    throw refused(`to: ${to} is the only node; others join on PostgreSQL (guide: several nodes)`)
  if (to_site === site)
    throw refused(`to: ${to} is the node of ${name} already; choose another one`)
  // An agent that was never resumed has its folder where it began, and perhaps half a copy where it is now.
  const from_site = under_way?.from_site ?? site
  const gone = under_way && site !== null ? [...left, site] : left
  if (to_site === from_site) return { under_way: null, left: gone }
  const having = nodes.filter((node) => factsIn(node).site === from_site)
  const from = having.find((node) => runs(node, nowMs)) ?? having[0]
  if (from_site === null || !from)
    throw refused(
      `no node that is known has the workspace of ${name}; bring it to ${to}, which then takes the agent by itself`,
    )
  return {
    under_way: {
      from: { node: from.name, folder: folderOf(from, name) },
      to: { node: to, folder: folderOf(target, name) },
      ...{ ready: false, set_aside: null, from_site, to_site },
    },
    left: gone,
  }
}

/** Waits for the word of the target that nothing of that name is in the way there, for as long as it can be expected. */
async function whenReady(op: Op, deps: Deps, agent: StoredAgent): Promise<AgentMove | null> {
  const signal = AbortSignal.any([op.signal, deps.signal])
  for (let looks = 1; ; looks += 1) {
    const move = await moveOf(deps.storage.meta, agent)
    if (!move || move.ready || looks === looksMax || signal.aborted) return move
    if (!(await isOtherServing(deps, move.to.node))) return move
    await deps.clock.sleep(lookAgainMs, signal)
  }
}

/**
 * Binds a paused agent to another node. Its folder is copied by a person after that, who resumes it there once the copy is
 * complete: until then no call reaches into the folder.
 */
export async function moveAgent(
  op: Op,
  deps: Deps,
  { name, to }: { readonly name: string } & MoveAgent,
): Promise<MovedAgent> {
  const nowMs = await deps.storage.wallMs()
  /** Raises what is in the way. */
  const look = async (tx: Stores) => {
    const current = await tx.agents.find(name)
    if (!current) throw new GatehouseError('AgentNotFound', { agent: name })
    // The one that answers is there, whenever it last said so.
    const nodes = (await tx.nodes.list()).map((node) =>
      node.name === deps.node ? { ...node, seen_ms: nowMs } : node,
    )
    const target = targetOf(nodes, to, deps.version, nowMs)
    await assertStill(tx, current)
    const plan = (move: StoredMove) => planMove(current, move, nodes, target, nowMs)
    return { current, nodes, target, plan }
  }
  const asked = await deps.auditLog.transaction(async (tx) => {
    const { current, plan } = await look(tx)
    plan((await readMoves(tx.meta))[name] ?? still)
    return current
  })
  const running = await awaitStill(op, deps, asked)
  if (running !== null) throw inTheWay(asked, running)
  const agent = await deps.directory.changing(() =>
    deps.auditLog.transaction(async (tx) => {
      const { current, nodes, target, plan } = await look(tx)
      // Resumed and paused again it may run something.
      if (current.generation !== asked.generation)
        throw refused(`Agent ${name} was changed by somebody else; try again.`)
      await changeMove(tx.meta, name, plan)
      const from = nodes.find((node) => factsIn(node).site === current.site)?.name
      const { site } = factsIn(target)
      const next = { ...current, site, generation: current.generation + 1 }
      if (!(await tx.agents.replace(current, next)))
        throw refused(`Agent ${name} was changed by somebody else; try again.`)
      tx.append(
        actDraft(op, 'agent.placed', { agent: name, arguments: { name, site, from, node: to } }),
      )
      return next
    }),
  )
  deps.directory.changed(agent)
  deps.events.publish({ type: 'agent.placed', agent: name, data: { status: agent.status } })
  await followMoves(deps)
  return { agent: agentRecord(agent), move: await whenReady(op, deps, agent) }
}
