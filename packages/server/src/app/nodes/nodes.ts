import {
  type ForgottenNode,
  GatehouseError,
  type InviteNode,
  type MoveAgent,
  type MovedAgent,
  type NodeInvite,
  type NodeKeys,
  type NodeList,
  type ServerNode,
  type UncheckedLog,
} from '@gatehouse/contract'
import type { NodeStore } from '../../ports/nodes.ts'
import type { Vault } from '../../ports/vault.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { FoundByNode } from '../call/found-by-node.ts'
import type { Op } from '../call/op.ts'
import type { Components, Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { recordAuthority, sharedAuthority } from './authority.ts'
import { type StillDeps, tellWhatRuns } from './await-still.ts'
import { EventSharing, type EventSharingDeps } from './event-sharing.ts'
import { assertNodeFits } from './fit.ts'
import { followMoves } from './follow-moves.ts'
import { admitNode, type InviteDeps, inviteNode } from './invite.ts'
import { moveAgent } from './move-agent.ts'
import { nodeRecord, workspacesOf } from './node-record.ts'
import { Presence, type PresenceDeps } from './presence.ts'
import { recordMove } from './record-move.ts'
import type { SharedPolicy } from './shared-policy.ts'
import { isOtherServing, type SiteDeps, takeAgents, whereIs } from './sites.ts'
import { Ways, type WaysDeps } from './ways.ts'

export type NodesDeps = Basics &
  PresenceDeps &
  SiteDeps &
  EventSharingDeps &
  WaysDeps &
  InviteDeps &
  StillDeps & {
    readonly vault: Pick<Vault, 'state'>
    readonly sharedPolicy: SharedPolicy
    /** Closes what a node left open that will not come back. */
    readonly endsWithNode: (node: string) => Promise<void>
  }

export interface NodeUseCases {
  listNodes(op: Op): Promise<NodeList>
  inviteNode(op: Op, input: InviteNode): Promise<NodeInvite>
  admitNode(op: Op, input: { secret: string }): Promise<NodeKeys>
  drainNode(op: Op, input: { name: string }): Promise<ServerNode>
  resumeNode(op: Op, input: { name: string }): Promise<ServerNode>
  forgetNode(op: Op, input: { name: string }): Promise<ForgottenNode>
  moveAgent(op: Op, input: { name: string } & MoveAgent): Promise<MovedAgent>
}

export type Nodes = Part<NodeUseCases> & {
  /** Ways to the nodes that have folders of agents. */
  readonly ways: Ways
  /** Raises `NodeUnfit` where this node may not serve beside those there are. */
  assertFits(): Promise<void>
  sharedAuthority(): Promise<string | null>
  recordAuthority(fingerprint: string): Promise<void>
  recordMove(op: Op): Promise<void>
  /** Words on which node has that folder of workspaces now. */
  whereIs(site: string): Promise<string>
  /** Whether it is another node, and runs, and has that folder of workspaces where one is given. */
  isOtherServing(node: string, site: string | null): Promise<boolean>
  /** Folders of workspaces that other nodes have, and serve. */
  awaySites(): readonly string[]
  health(): Components['nodes']
  /** Logs of nodes that are gone without a word: nobody compares them with their copies. */
  missing(): readonly UncheckedLog[]
  /** Findings that other nodes have of the audit log. */
  found(): readonly FoundByNode[]
}

const takeEveryMs = 60_000
const moveEveryMs = 2_000

type Deps = NodesDeps & { readonly presence: Presence; readonly ways: Ways }

async function showNode(
  { storage, node, presence, ways }: Deps,
  name: string,
): Promise<ServerNode> {
  const found = await presence.find(name)
  if (!found) throw new GatehouseError('NodeNotFound', { name })
  return nodeRecord(found, await storage.wallMs(), node, ways.faultOf(name))
}

/** Refusal to tell something to a node that does not hear it. */
const notThere = ({ name, place, status, seen_at }: ServerNode): GatehouseError =>
  new GatehouseError(
    'Conflict',
    {
      detail:
        status === 'stopped'
          ? `${name} has stopped: it takes no work, and takes it again once it is started.`
          : `${name} is missing, and was last seen at ${seen_at}: nobody can tell it anything.`,
    },
    {
      recovery: [
        { action: `start the service of ${place}`, description: 'It takes work from then on.' },
        {
          action: `gatehouse nodes forget ${name}`,
          description: 'If it will not come back.',
        },
      ],
    },
  )

/** Refusal to forget a node that would be there again two seconds later. */
const stillThere = ({ name, place, answering }: ServerNode): GatehouseError =>
  new GatehouseError(
    'Conflict',
    {
      detail: answering
        ? `${name} is the node that answers this; another node can forget it once it has stopped.`
        : `${name} is running; stop it first.`,
    },
    {
      recovery: [
        {
          action: `gatehouse nodes drain ${name}`,
          description: 'Let it finish its work and take no new work.',
        },
        {
          action: `stop the service of ${place}`,
          description: answering
            ? `Then, on another node, run: gatehouse nodes forget ${name}`
            : `Then run: gatehouse nodes forget ${name}`,
        },
      ],
    },
  )

/** A node in a transaction, and how it is at a moment before: its own beat may come, and it may stop, while the work waits. */
async function lookAt({ node }: Deps, nodes: NodeStore, name: string, nowMs: number) {
  const found = await nodes.find(name)
  if (!found) throw new GatehouseError('NodeNotFound', { name })
  // The one that answers is there, and alone on its store says so once.
  const now = name === node ? { ...found, seen_ms: nowMs } : found
  return { found, record: nodeRecord(now, nowMs, node, null) }
}

const changedMeanwhile = (name: string): GatehouseError =>
  new GatehouseError('Conflict', { detail: `${name} changed at the same time; try again.` })

async function changeNode(
  op: Op,
  deps: Deps,
  name: string,
  state: 'active' | 'draining',
): Promise<ServerNode> {
  const nowMs = await deps.storage.wallMs()
  await deps.auditLog.transaction(async (tx) => {
    const { found, record } = await lookAt(deps, tx.nodes, name, nowMs)
    if (record.status === 'stopped' || record.status === 'missing') throw notThere(record)
    if (found.state === state) return
    if (!(await tx.nodes.setState(name, state, found.state))) throw changedMeanwhile(name)
    const act = state === 'draining' ? 'node.drained' : 'node.resumed'
    tx.append(actDraft(op, act, { arguments: { name } }))
  })
  if (name === deps.node) deps.listeners.drain(state === 'draining' ? name : null)
  return showNode(deps, name)
}

async function forgetNode(op: Op, deps: Deps, name: string): Promise<ForgottenNode> {
  const nowMs = await deps.storage.wallMs()
  await deps.auditLog.transaction(async (tx) => {
    const { found, record } = await lookAt(deps, tx.nodes, name, nowMs)
    if (record.status === 'active' || record.status === 'draining') throw stillThere(record)
    if (!(await tx.nodes.remove(name, found.seen_ms))) throw changedMeanwhile(name)
    tx.append(actDraft(op, 'node.forgotten', { arguments: { name } }))
  })
  await deps.endsWithNode(name)
  return { name }
}

/** Nodes of the installation: which there are, and whether this one fits. */
export function bindNodes(given: NodesDeps): Nodes {
  const presence = new Presence(given)
  const ways = new Ways(given)
  const deps = { ...given, presence, ways }
  const sharing = new EventSharing(deps)
  const taking = new PollLoop(deps, {
    name: 'looking for agents whose workspace came to this node',
    everyMs: takeEveryMs,
    async look() {
      // Leftovers of an agent that went elsewhere are not its workspace.
      await followMoves(deps)
      await takeAgents(deps)
    },
  })
  const moving = new PollLoop(deps, {
    name: 'looking for agents that move',
    everyMs: moveEveryMs,
    follows: ['agents'],
    async look() {
      await tellWhatRuns(deps)
      await followMoves(deps)
    },
  })
  return {
    ways,
    useCases: {
      async listNodes() {
        const known = await deps.storage.nodes.list()
        const nodes = await Promise.all(known.map(({ name }) => showNode(deps, name)))
        const workspaces = workspacesOf(nodes.map(({ site }) => site))
        return { nodes, shared: deps.storage.isNetworked, workspaces }
      },
      inviteNode: (op, input) => inviteNode(op, deps, input),
      admitNode: (op, input) => admitNode(op, deps, input),
      drainNode: (op, { name }) => changeNode(op, deps, name, 'draining'),
      resumeNode: (op, { name }) => changeNode(op, deps, name, 'active'),
      forgetNode: (op, { name }) => forgetNode(op, deps, name),
      moveAgent: (op, input) => moveAgent(op, deps, input),
    },
    async assertFits() {
      await assertNodeFits(deps)
      await deps.sharedPolicy.enter()
      await presence.assertFolder()
    },
    sharedAuthority: () => sharedAuthority(deps),
    recordAuthority: (fingerprint) => recordAuthority(deps, fingerprint),
    recordMove: (op) => recordMove(op, deps),
    whereIs: (site) => whereIs({ ...deps, faultOf: (name) => ways.faultOf(name) }, site),
    isOtherServing: (node, site) => isOtherServing(deps, node, site),
    awaySites: () => presence.awaySites(),
    health: () => presence.health(),
    missing: () => presence.missing(),
    found: () => presence.found(),
    async start() {
      await presence.start()
      deps.sharedPolicy.start()
      await sharing.start()
      if (deps.workspaces.site === null) return
      taking.start()
      moving.start()
    },
    async stopped() {
      await Promise.all([taking.stopped(), moving.stopped(), sharing.stopped()])
      await deps.sharedPolicy.stopped()
      await presence.stopped()
    },
  }
}
