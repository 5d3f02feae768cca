import type {
  Agent,
  AgentDetail,
  AgentWithToken,
  CreateAgent,
  CreatedAgent,
  ListedAgent,
  PauseAll,
  PausedAgents,
  ResumeAll,
  RotateAgent,
  ServicePause,
  Session,
  Transport,
} from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { FilesFactory } from '../../ports/files.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Basics } from '../call/basics.ts'
import { type AgentOp, type Op, systemOp } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { AgentDirectory, type AuthenticatedAgent } from './agent-directory.ts'
import {
  type ChangeAgentDeps,
  type EndsWithAgent,
  pauseAgent,
  restoreAgent,
  resumeAgent,
  revokeAgent,
  rotateAgent,
} from './change-agent.ts'
import { type CreateAgentDeps, createAgent } from './create-agent.ts'
import { type EditInput, type EditOutcome, editAgent } from './edit-agent.ts'
import { listAgents } from './list-agents.ts'
import { pauseAll, resumeAll } from './pause-all.ts'
import { SeenAgents } from './seen-agents.ts'
import { servicePause } from './service-pause.ts'
import { SessionTable } from './session-table.ts'
import {
  assertSession,
  endSession,
  holdSession,
  initializeSession,
  openClientSession,
  openSession,
} from './sessions.ts'
import { showAgent } from './show-agent.ts'

export type AgentDeps = Basics & {
  readonly audit: Pick<AuditReader, 'notListed' | 'rows'>
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly files: FilesFactory
  readonly node: string
  readonly workspaces: CreateAgentDeps['workspaces'] & ChangeAgentDeps['workspaces']
  /** Clean-ups of other parts when an agent is revoked, in this order. */
  readonly endsWithAgent: () => readonly EndsWithAgent[]
  readonly signal: AbortSignal
}

export interface AgentUseCases {
  /** The agent of a token, or null; constant time, whatever is sent. Revoked ones are null. */
  authenticateAgent(token: string): Promise<AuthenticatedAgent | null>
  /** Whether the credential is still valid: checked on each message of an open connection. */
  stillValid(name: string, credential: number): boolean

  createAgent(op: Op, input: CreateAgent): Promise<CreatedAgent>
  editAgent(op: Op, input: EditInput): Promise<EditOutcome>
  listAgents(op: Op): Promise<readonly ListedAgent[]>
  /** All but its list of tools, which is a matter of the transport. */
  showAgent(op: Op, input: { name: string }): Promise<Omit<AgentDetail, 'tool_list'>>
  pauseAgent(op: Op, input: { name: string }): Promise<Agent>
  resumeAgent(op: Op, input: { name: string }): Promise<Agent>
  rotateAgent(op: Op, input: { name: string } & RotateAgent): Promise<AgentWithToken>
  revokeAgent(op: Op, input: { name: string }): Promise<Agent>
  /** A revoked agent comes back with a new token. */
  restoreAgent(op: Op, input: { name: string }): Promise<AgentWithToken>
  showPause(op: Op): Promise<ServicePause>
  pauseAll(op: Op, input: PauseAll): Promise<PausedAgents>
  resumeAll(op: Op, input: ResumeAll): Promise<PausedAgents>

  openSession(
    op: Omit<AgentOp, 'session_id'>,
    input: { transport: Transport; client: { name: string; version: string } | null },
  ): Promise<Session>
  /** Names the client of a session that began before it said who it is. */
  initializeSession(
    op: AgentOp,
    input: { session_id: string; client: { name: string; version: string } },
  ): Promise<void>
  /** The open session of this token and client, for protocols whose requests name none. */
  openClientSession(
    op: Omit<AgentOp, 'session_id'>,
    input: { transport: Transport; client: { name: string; version: string } | null },
  ): Promise<string>
  endSession(
    op: AgentOp,
    input: { session_id: string },
  ): Promise<{ session_id: string; ended_at: string }>
  /** Keeps the session of a stream from ending as idle, until it is disposed. */
  holdSession(op: Pick<AgentOp, 'session_id' | 'actor'>): Disposable
  /** Raises `SessionNotFound` unless the session is open and this agent's; marks it as used. */
  assertSession(op: Omit<AgentOp, 'session_id'>, input: { session_id: string }): Promise<void>
}

export type Agents = Part<AgentUseCases> & {
  readonly directory: AgentDirectory
  readonly sessions: SessionTable
}

const otherNodesEveryMs = 2_000
const idleEveryMs = 60_000

/** Agents, their tokens and their sessions. */
export function bindAgents(given: AgentDeps): Agents {
  const directory = new AgentDirectory(given)
  const sessions = new SessionTable(given)
  const seen = new SeenAgents(given)
  const deps = { ...given, directory, sessions }
  const otherNodes = new PollLoop(deps, {
    name: 'looking for agents that another node changed',
    everyMs: otherNodesEveryMs,
    follows: ['agents'],
    look: () => directory.reload(),
  })
  const ended = new PollLoop(deps, {
    name: 'looking for sessions that ended on another node',
    everyMs: otherNodesEveryMs,
    look: () => sessions.followEnds(),
  })
  const idle = new PollLoop(deps, {
    name: 'looking for sessions that are idle',
    everyMs: idleEveryMs,
    look: () => sessions.endIdle(systemOp(deps)),
  })
  return {
    directory,
    sessions,
    useCases: {
      async authenticateAgent(token) {
        const agent = await directory.authenticate(token)
        if (agent) seen.note(agent.name)
        return agent
      },
      stillValid: (name, credential) => directory.holder(name, credential) !== null,

      createAgent: (op, input) => createAgent(op, deps, input),
      editAgent: (op, input) => editAgent(op, deps, input),
      listAgents: () => listAgents(deps),
      showAgent: (_op, input) => showAgent(deps, input),
      pauseAgent: (op, input) => pauseAgent(op, deps, input),
      resumeAgent: (op, input) => resumeAgent(op, deps, input),
      rotateAgent: (op, input) => rotateAgent(op, deps, input),
      revokeAgent: (op, input) => revokeAgent(op, deps, input),
      restoreAgent: (op, input) => restoreAgent(op, deps, input),
      showPause: () => servicePause(deps.storage.meta),
      pauseAll: (op, input) => pauseAll(op, deps, input),
      resumeAll: (op, input) => resumeAll(op, deps, input),

      openSession: (op, input) => openSession(op, deps, input),
      initializeSession: (op, input) => initializeSession(op, deps, input),
      openClientSession: (op, input) => openClientSession(op, deps, input),
      endSession: (op, input) => endSession(op, deps, input),
      holdSession: (op) => holdSession(op, deps),
      assertSession: (op, input) => assertSession(op, deps, input),
    },
    async start() {
      if (deps.storage.isShared) otherNodes.start('later')
      if (deps.storage.isNetworked) ended.start('later')
      idle.start('later')
    },
    async stopped() {
      await Promise.all([otherNodes.stopped(), ended.stopped(), idle.stopped()])
    },
  }
}
