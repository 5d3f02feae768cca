import {
  GatehouseError,
  type PauseAll,
  type PausedAgents,
  type ResumeAll,
} from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { actorText, type Op } from '../call/op.ts'
import type { AgentDirectory } from './agent-directory.ts'
import {
  pausedWithAll,
  pauseFacts,
  servicePause,
  setPausedWithAll,
  setPauseFacts,
} from './service-pause.ts'

type Deps = Pick<Basics, 'auditLog' | 'events' | 'clock'> & { readonly directory: AgentDirectory }

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

type Changed = { readonly agents: readonly StoredAgent[]; readonly pause: PausedAgents['pause'] }

/** After it stands: the next message on any connection of these agents meets their new state. */
function tell(deps: Deps, act: string, { agents, pause }: Changed): PausedAgents {
  for (const agent of agents) {
    deps.directory.changed(agent)
    deps.events.publish({ type: act, agent: agent.name, data: { status: agent.status } })
  }
  return { agents: agents.map(({ name }) => name), count: agents.length, pause }
}

/** The first person who paused, and since when, stays where somebody pauses again; the newest reason is kept. */
async function keepFacts(
  op: Op,
  deps: Deps,
  { meta }: AuditTransaction,
  reason: string,
): Promise<void> {
  const before = await pauseFacts(meta)
  const since = new Date(deps.clock.wall()).toISOString()
  await setPauseFacts(meta, {
    ...(before ?? { paused_by: actorText(op.actor), since }),
    reason: reason === '' ? (before?.reason ?? '') : reason,
  })
}

/** Stops every agent at once. Agents that are paused already stay a matter of their own. */
export async function pauseAll(op: Op, deps: Deps, { reason }: PauseAll): Promise<PausedAgents> {
  const changed = await deps.directory.changing(() =>
    deps.auditLog.transaction(async (tx) => {
      const active = (await tx.agents.list()).filter(({ status }) => status === 'active')
      const agents = await changeAll(op, tx, active, 'paused')
      const names = [...(await pausedWithAll(tx.meta)), ...agents.map(({ name }) => name)]
      await setPausedWithAll(tx.meta, new Set(names))
      await keepFacts(op, deps, tx, reason)
      const said = reason === '' ? {} : { arguments: { reason } }
      tx.append(actDraft(op, 'service.paused', { ...said, detail: { agents: agents.length } }))
      return { agents, pause: await servicePause(tx.meta) }
    }),
  )
  return tell(deps, 'agent.paused', changed)
}

/** Refuses the whole of it where one of the names did not come with the pause. */
function assertPaused(
  all: readonly StoredAgent[],
  waiting: ReadonlySet<string>,
  names: readonly string[],
): void {
  for (const name of names) {
    if (waiting.has(name)) continue
    const agent = all.find((one) => one.name === name)
    if (!agent) throw new GatehouseError('AgentNotFound', { agent: name })
    const detail = 'it was not paused with all others'
    throw new GatehouseError('AgentStateConflict', { agent: name, status: agent.status, detail })
  }
}

/** Resumes those that `pauseAll` paused and no other: all of them, or the ones that are named first. */
export async function resumeAll(op: Op, deps: Deps, input: ResumeAll): Promise<PausedAgents> {
  const changed = await deps.directory.changing(() =>
    deps.auditLog.transaction(async (tx) => {
      const waiting = new Set(await pausedWithAll(tx.meta))
      const all = await tx.agents.list()
      assertPaused(all, waiting, input.agents ?? [])
      const wanted = new Set(input.agents ?? waiting)
      const back = all.filter(({ name, status }) => status === 'paused' && wanted.has(name))
      const agents = await changeAll(op, tx, back, 'active')
      const left = [...waiting].filter((name) => !wanted.has(name))
      await setPausedWithAll(tx.meta, left)
      if (left.length === 0) await setPauseFacts(tx.meta, null)
      const detail = { agents: agents.length, still_paused: left.length }
      tx.append(actDraft(op, 'service.resumed', { detail }))
      return { agents, pause: await servicePause(tx.meta) }
    }),
  )
  return tell(deps, 'agent.resumed', changed)
}
