import type { SystemStatus } from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'
import type { SystemFacts } from '../../ports/capability.ts'
import { servicePause } from '../agents/service-pause.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { GateWatch } from './gate-watch.ts'
import { type HealthDeps, health, uptimeOf } from './health.ts'
import { gateProcesses } from './logs-together.ts'

const dayMs = 86_400_000

export type StateDeps = HealthDeps & {
  readonly version: string
  readonly sessions: SessionTable
  readonly gateWatch: Pick<GateWatch, 'facts'>
  readonly audit: Pick<AuditReader, 'counts'>
}

export async function status(deps: StateDeps): Promise<SystemStatus> {
  const sinceMs = deps.clock.wall() - dayMs
  const [found, agents, pending, counts, pause, gates] = await Promise.all([
    health(deps),
    deps.storage.agents.list(),
    deps.storage.approvals.countPending(),
    deps.audit.counts(sinceMs),
    servicePause(deps.storage.meta),
    deps.gateWatch.facts(),
  ])
  return {
    version: deps.version,
    uptime_seconds: uptimeOf(deps),
    active_agents: agents.filter((agent) => agent.status === 'active').length,
    active_sessions: gates.reduce((sum, { sessions }) => sum + sessions, deps.sessions.count()),
    pending_approvals: pending,
    capabilities_invoked_24h: counts.calls,
    policy_violations_24h: counts.denied,
    health: found.status,
    health_reasons: found.reasons,
    ...gateProcesses(gates),
    pause,
  }
}

/** Facts of the service that an agent may know: nothing about other agents. */
export const systemFacts = (deps: StateDeps): SystemFacts => ({
  info: async () => ({
    name: 'gatehouse',
    version: deps.version,
    ...deps.host.info(),
    uptime_seconds: uptimeOf(deps),
    time: new Date(deps.clock.wall()).toISOString(),
  }),
  async health() {
    const { status: overall, components } = await health(deps)
    const named = Object.entries(components).map(([name, component]) => ({
      name,
      status: component.status,
    }))
    return { status: overall, components: named }
  },
  async metrics() {
    const resources = await deps.host.resources()
    return { uptime_seconds: uptimeOf(deps), ...resources, ...deps.host.processMemory() }
  },
})
