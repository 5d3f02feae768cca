import { type AgentDetail, GatehouseError } from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'
import type { Storage } from '../../ports/storage.ts'
import { type LimitDeps, limitsOf } from '../call/agent-limits.ts'
import { leftOut } from '../call/left-out.ts'
import { moveOf } from './agent-moves.ts'
import { agentRecord } from './agent-record.ts'
import { sessionRecord } from './session-table.ts'

const sessionsShown = 50

type Deps = LimitDeps & {
  readonly storage: Pick<Storage, 'agents' | 'sessions' | 'limits' | 'meta'>
  readonly audit: Pick<AuditReader, 'notListed' | 'rows'>
}

export async function showAgent(
  deps: Deps,
  { name }: { readonly name: string },
): Promise<Omit<AgentDetail, 'tool_list'>> {
  const agent = await deps.storage.agents.find(name)
  if (!agent) throw new GatehouseError('AgentNotFound', { agent: name })
  const [sessions, stats] = await Promise.all([
    deps.storage.sessions.listOf(name, sessionsShown),
    deps.audit.rows.statsOf(name),
  ])
  const rate_limits = await limitsOf(deps, agent)
  return {
    ...agentRecord(agent),
    move: await moveOf(deps.storage.meta, agent),
    sessions: sessions.map(sessionRecord),
    stats: {
      by_capability: [...stats.by_capability],
      by_day: [...stats.by_day],
      rate_limits,
      ...leftOut(deps.audit),
    },
  }
}
