import type { AuditTarget } from '@gatehouse/contract'
import type { AuditExports } from '../../ports/audit-export.ts'
import type { Gauges, Metrics } from '../../ports/metrics.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { GateWatch } from './gate-watch.ts'
import { type HealthDeps, health } from './health.ts'

type Deps = HealthDeps & {
  readonly sessions: SessionTable
  readonly processesRunning: () => number
  readonly gateWatch: GateWatch
  readonly metrics: Metrics
  readonly auditExports: AuditExports
}

const upstreamLevels = {
  ready: 1,
  unconnected: 1,
  needs_review: 0.5,
  needs_login: 0.5,
  failing: 0,
} as const

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0)

const levels = { healthy: 1, disabled: 1, degraded: 0.5, unhealthy: 0 } as const

async function gaugesOf(deps: Deps): Promise<Gauges> {
  const [{ components }, gates, agents, approvals_pending, alerts_open, services, writes] =
    await Promise.all([
      health(deps),
      deps.gateWatch.facts(),
      deps.storage.agents.list(),
      deps.storage.approvals.countPending(),
      deps.storage.alerts.countOpen(),
      deps.storage.services.list(),
      deps.storage.writes.counts(),
    ])
  const targets = await deps.auditExports.list()
  const byTarget = (value: (target: AuditTarget) => number): Record<string, number> =>
    Object.fromEntries(targets.map((target) => [target.name, value(target)]))
  const withStatus = (status: string) => agents.filter((agent) => agent.status === status).length
  const servicesThatAre = (status: string) =>
    services.filter((service) => service.status === status).length
  const counted = [...writes.values()]
  return {
    agents: {
      active: withStatus('active'),
      paused: withStatus('paused'),
      revoked: withStatus('revoked'),
    },
    nodes: components.nodes.nodes,
    sessions_open: sum(gates, ({ sessions }) => sessions) + deps.sessions.count(),
    approvals_pending,
    alerts_open,
    processes_running: sum(gates, ({ processes }) => processes) + deps.processesRunning(),
    services: {
      connected: servicesThatAre('connected'),
      syncing: servicesThatAre('syncing'),
      degraded: servicesThatAre('degraded'),
    },
    writes: {
      pending: sum(counted, ({ buffered }) => buffered),
      dead: sum(counted, ({ dead }) => dead),
    },
    upstreams: Object.fromEntries(
      Object.entries(components.upstreams.servers).map(([name, status]) => [
        name,
        upstreamLevels[status],
      ]),
    ),
    audit_entries: components.audit.entries,
    audit_lag_entries: byTarget((target) => target.lag_entries),
    audit_lag_seconds: byTarget((target) => target.lag_seconds),
    audit_targets_failing: byTarget(({ failure }) => (failure === null ? 0 : 1)),
    health: Object.fromEntries(
      Object.entries(components).map(([name, { status }]) => [name, levels[status]]),
    ),
  }
}

/** The metrics as they now are. */
export const renderMetrics = async (deps: Deps): Promise<string> =>
  deps.metrics.render(await gaugesOf(deps), await deps.gateWatch.metrics())
