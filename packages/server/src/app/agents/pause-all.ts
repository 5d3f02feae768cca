import type { PausedAgents } from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { MetaStore } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import type { AgentDirectory } from './agent-directory.ts'

type Deps = Pick<Basics, 'auditLog' | 'events'> & { readonly directory: AgentDirectory }

/** Under this key stand the agents that are paused because everything was. */
const metaKey = 'paused_with_all'

async function pausedWithAll(meta: MetaStore): Promise<string[]> {
  const stored = await meta.get(metaKey)
  return stored === null ? [] : (JSON.parse(stored) as string[])
}

/** Agents paused or resumed by name are no longer a matter of pausing or resuming everything. */
export async function forgetPausedWithAll(tx: AuditTransaction, name: string): Promise<void> {
  const names = await pausedWithAll(tx.meta)
  if (names.includes(name))
    await tx.meta.set(metaKey, JSON.stringify(names.filter((other) => other !== name)))
}

async function changeAll(
  op: Op,
  tx: AuditTransaction,
  agents: readonly StoredAgent[],
  status: 'active' | 'paused',
): Promise<StoredAgent[]> {
  const changed: StoredAgent[] = []
  const act = status === 'paused' ? 'agent.paused' : 'agent.resumed'
  for (const agent of agents) {
    const next = { ...agent, status, generation: agent.generation + 1 }
    if (!(await tx.agents.replace(agent, next))) continue
    changed.push(next)
    const facts = { agent: agent.name, arguments: { name: agent.name }, detail: { all: true } }
    tx.append(actDraft(op, act, facts))
  }
  return changed
}

/** After it stands: the next message on any connection of these agents meets their new state. */
function tell(deps: Deps, act: string, agents: readonly StoredAgent[]): PausedAgents {
  for (const agent of agents) {
    deps.directory.changed(agent)
    deps.events.publish({ type: act, agent: agent.name, data: { status: agent.status } })
  }
  return { agents: agents.map(({ name }) => name), count: agents.length }
}

/** Stops every agent at once. Agents that are paused already stay a matter of their own. */
export async function pauseAll(op: Op, deps: Deps): Promise<PausedAgents> {
  const agents = await deps.auditLog.transaction(async (tx) => {
    const active = (await tx.agents.list()).filter(({ status }) => status === 'active')
    const changed = await changeAll(op, tx, active, 'paused')
    const names = new Set([...(await pausedWithAll(tx.meta)), ...changed.map(({ name }) => name)])
    await tx.meta.set(metaKey, JSON.stringify([...names]))
    tx.append(actDraft(op, 'service.paused', { detail: { agents: changed.length } }))
    return changed
  })
  return tell(deps, 'agent.paused', agents)
}

/** Resumes those that `pauseAll` paused, and no other. */
export async function resumeAll(op: Op, deps: Deps): Promise<PausedAgents> {
  const agents = await deps.auditLog.transaction(async (tx) => {
    const names = new Set(await pausedWithAll(tx.meta))
    const paused = (await tx.agents.list()).filter(
      ({ name, status }) => status === 'paused' && names.has(name),
    )
    const changed = await changeAll(op, tx, paused, 'active')
    await tx.meta.set(metaKey, '[]')
    tx.append(actDraft(op, 'service.resumed', { detail: { agents: changed.length } }))
    return changed
  })
  return tell(deps, 'agent.resumed', agents)
}
