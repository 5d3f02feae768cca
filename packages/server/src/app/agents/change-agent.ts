import {
  type Agent,
  type AgentWithToken,
  GatehouseError,
  type RotateAgent,
} from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { MetaStore } from '../../ports/storage.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import type { AgentDirectory } from './agent-directory.ts'
import { endMove, moveOf } from './agent-moves.ts'
import { agentRecord, newToken, withToken } from './agent-record.ts'
import { beginningStatus, forgetPausedWithAll } from './service-pause.ts'
import type { SessionTable } from './session-table.ts'

export type ChangeAgentDeps = Pick<Basics, 'auditLog' | 'clock' | 'ids' | 'digest' | 'events'> & {
  readonly node: string
  readonly workspaces: Pick<Workspaces, 'site' | 'holds'>
  readonly directory: AgentDirectory
  readonly sessions: SessionTable
}

/**
 * Clean-up of a part when an agent is revoked: in the transaction that revokes it, and what is to follow once
 * that stands. A transaction may run more than once.
 */
export type EndsWithAgent = (
  op: Op,
  tx: AuditTransaction,
  agent: string,
) => Promise<(() => void) | undefined>

type RevokeDeps = ChangeAgentDeps & { readonly endsWithAgent: () => readonly EndsWithAgent[] }

type Change = (
  current: StoredAgent,
  meta: MetaStore,
) => StoredAgent | null | Promise<StoredAgent | null>

/**
 * Changes one agent: its row and the entry in one transaction, and this process's own view after it, so
 * that the next message on any of its connections meets the new state.
 */
async function change(
  op: Op,
  deps: ChangeAgentDeps,
  name: string,
  act: string,
  next: Change,
  also?: (tx: AuditTransaction, agent: StoredAgent) => Promise<void>,
): Promise<StoredAgent> {
  const agent = await deps.directory.changing(() =>
    deps.auditLog.transaction(async (tx) => {
      const current = await tx.agents.find(name)
      if (!current) throw new GatehouseError('AgentNotFound', { agent: name })
      const changed = await next(current, tx.meta)
      if (changed === null) {
        // Things that the change before this one left, or that came after it, end now.
        await also?.(tx, current)
        return current
      }
      const stored = { ...changed, generation: current.generation + 1 }
      if (!(await tx.agents.replace(current, stored)))
        throw new GatehouseError('Conflict', {
          detail: `Agent ${name} was changed by somebody else; try again.`,
        })
      tx.append(actDraft(op, act, { agent: name, arguments: { name } }))
      await also?.(tx, stored)
      return stored
    }),
  )
  deps.directory.changed(agent)
  deps.events.publish({ type: act, agent: name, data: { status: agent.status } })
  return agent
}

const conflict = (agent: StoredAgent, detail: string): never => {
  throw new GatehouseError('AgentStateConflict', {
    agent: agent.name,
    status: agent.status,
    detail,
  })
}

type Named = { readonly name: string }

/** Pausing twice is fine; a revoked agent has nothing to pause. */
export async function pauseAgent(op: Op, deps: ChangeAgentDeps, { name }: Named): Promise<Agent> {
  const agent = await change(op, deps, name, 'agent.paused', async (current, meta) => {
    if (current.status === 'revoked') conflict(current, 'restore it first')
    await forgetPausedWithAll(meta, name)
    return current.status === 'paused' ? null : { ...current, status: 'paused' }
  })
  return agentRecord(agent)
}

export async function resumeAgent(op: Op, deps: ChangeAgentDeps, { name }: Named): Promise<Agent> {
  const agent = await change(op, deps, name, 'agent.resumed', async (current, meta) => {
    if (current.status !== 'paused') conflict(current, 'only a paused agent is resumed')
    await endMove(deps, current, meta)
    await forgetPausedWithAll(meta, name)
    return { ...current, status: 'active' }
  })
  return agentRecord(agent)
}

/** A new token. The old one ends at once, or after the overlap. */
export async function rotateAgent(
  op: Op,
  deps: ChangeAgentDeps,
  { name, overlap_seconds }: Named & RotateAgent,
): Promise<AgentWithToken> {
  const { token, hash } = newToken(deps)
  const agent = await change(op, deps, name, 'agent.rotated', (current) => {
    if (current.status === 'revoked') conflict(current, 'restore it instead')
    const overlaps = overlap_seconds > 0
    return {
      ...current,
      token_hash: hash,
      token_ms: deps.clock.wall(),
      previous_token_hash: overlaps ? current.token_hash : null,
      previous_until_ms: overlaps ? deps.clock.now() + overlap_seconds * 1000 : null,
    }
  })
  return withToken(agent, token)
}

/** Ends the token for good, closes the agent's sessions and ends what other parts hold for it. */
export async function revokeAgent(op: Op, deps: RevokeDeps, { name }: Named): Promise<Agent> {
  let follow: (() => void)[] = []
  const agent = await change(
    op,
    deps,
    name,
    'agent.revoked',
    async (current, meta) => {
      await forgetPausedWithAll(meta, name)
      return current.status === 'revoked'
        ? null
        : { ...current, status: 'revoked', previous_token_hash: null, previous_until_ms: null }
    },
    async (tx) => {
      follow = []
      for (const end of deps.endsWithAgent()) {
        const next = await end(op, tx, name)
        if (next) follow.push(next)
      }
    },
  )
  for (const next of follow) next()
  await deps.sessions.endAll(op, name)
  return agentRecord(agent)
}

export async function restoreAgent(
  op: Op,
  deps: ChangeAgentDeps,
  { name }: Named,
): Promise<AgentWithToken> {
  const { token, hash } = newToken(deps)
  const agent = await change(op, deps, name, 'agent.restored', async (current, meta) => {
    if (current.status !== 'revoked') conflict(current, 'only a revoked agent is restored')
    const status = (await moveOf(meta, current)) ? 'paused' : await beginningStatus(meta, name)
    return { ...current, status, token_hash: hash, token_ms: deps.clock.wall() }
  })
  return withToken(agent, token)
}
