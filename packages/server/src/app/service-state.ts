import type { Health, HealthStatus, SystemStatus } from '@gatehouse/contract'
import type { AuditReader } from '../ports/audit.ts'
import type { SystemFacts } from '../ports/capability.ts'
import type { Host } from '../ports/host.ts'
import type { PolicySource } from '../ports/policy.ts'
import type { Basics } from './deps.ts'
import type { SessionTable } from './session-table.ts'

const dayMs = 86_400_000

export type StateDeps = Pick<Basics, 'storage' | 'clock'> & {
  readonly version: string
  readonly startedMs: number
  readonly sessions: SessionTable
  readonly policy: PolicySource
  readonly auditReader: AuditReader
  readonly auditHealth: () => {
    readonly status: HealthStatus
    readonly reason?: string
    readonly entries: number
  }
  readonly host: Host
}

const uptimeOf = (deps: StateDeps): number => Math.floor((deps.clock.now() - deps.startedMs) / 1000)

const policyHealth = (deps: StateDeps): { status: HealthStatus; reason?: string } => {
  const error = deps.policy.problems().find(({ severity }) => severity === 'error')
  return error
    ? {
        status: 'degraded',
        reason: `${error.file}:${error.line}:${error.column}: ${error.message}`,
      }
    : { status: 'healthy' }
}

const worst = (all: readonly HealthStatus[]): HealthStatus =>
  all.includes('unhealthy') ? 'unhealthy' : all.includes('degraded') ? 'degraded' : 'healthy'

export async function health(deps: StateDeps): Promise<Health> {
  const audit = deps.auditHealth()
  const policy = policyHealth(deps)
  return {
    status: worst([audit.status, policy.status]),
    components: {
      gateway: { status: 'healthy', uptime: uptimeOf(deps) },
      audit,
      policy: { ...policy, version: deps.policy.current().version },
      storage: { status: 'healthy', engine: deps.storage.engine },
    },
    resources: await deps.host.resources(),
  }
}

export async function status(deps: StateDeps): Promise<SystemStatus> {
  const sinceMs = deps.clock.wall() - dayMs
  const [agents, pending, counts] = await Promise.all([
    deps.storage.agents.list(),
    deps.storage.approvals.countPending(),
    deps.auditReader.counts(sinceMs),
  ])
  return {
    version: deps.version,
    uptime_seconds: uptimeOf(deps),
    active_agents: agents.filter((agent) => agent.status === 'active').length,
    active_sessions: deps.sessions.count(),
    pending_approvals: pending,
    capabilities_invoked_24h: counts.calls,
    policy_violations_24h: counts.denied,
    health: worst([deps.auditHealth().status, policyHealth(deps).status]),
  }
}

/** What an agent may know of the service: nothing about other agents. */
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
