import type { AuditReader } from '../../ports/audit.ts'
import type { Host } from '../../ports/host.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Vault } from '../../ports/vault.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { pauseAll, resumeAll } from '../agents/pause-all.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { App } from '../app.ts'
import type { Basics } from '../call/basics.ts'
import { PollLoop } from '../call/poll-loop.ts'
import type { ProcessTable } from '../processes/process-table.ts'
import { changeState, deleteState, listState, showState } from '../state/people-state.ts'
import { sweepState } from '../state/state-upkeep.ts'
import { followActivity, listActivity } from './activity.ts'
import { AlertMonitors, type MonitorDeps } from './alert-monitors.ts'
import { acknowledgeAlert, listAlerts } from './alerts.ts'
import type { AuditAccess } from './audit-access.ts'
import { type HealthDeps, health, readiness } from './health.ts'
import { renderMetrics } from './metrics.ts'
import { probeSandbox } from './sandbox-access.ts'

export type SupervisionDeps = Basics &
  HealthDeps & {
    readonly audit: AuditAccess & Pick<AuditReader, 'rows'>
    readonly policy: PolicySource
    readonly vault: Pick<Vault, 'state'>
    readonly host: Host
    readonly metrics: Metrics
    readonly sessions: SessionTable
    readonly processes: Pick<ProcessTable, 'running'>
    readonly directory: AgentDirectory
    readonly settings: MonitorDeps['settings']
    readonly signal: AbortSignal
  }

type UseCases = Pick<
  App,
  | 'listActivity'
  | 'followActivity'
  | 'listState'
  | 'showState'
  | 'changeState'
  | 'deleteState'
  | 'listAlerts'
  | 'acknowledgeAlert'
  | 'pauseAll'
  | 'resumeAll'
  | 'health'
  | 'readiness'
  | 'probeSandbox'
  | 'renderMetrics'
>

export type Supervision = {
  readonly useCases: UseCases
  /** Begins to watch for what people must know of. */
  start(): Promise<void>
  stopped(): Promise<void>
}

const alertsEveryMs = 10_000
const stateEveryMs = 60_000

/** What people see of the service and how they stop all of it, bound to its dependencies. */
export function bindSupervision(deps: SupervisionDeps): Supervision {
  const monitors = new AlertMonitors(deps)
  const counting = deps.journal.onCommit((commit) => deps.metrics.committed(commit))
  const polling = [
    new PollLoop(deps, {
      name: 'looking for alerts',
      everyMs: alertsEveryMs,
      look: () => monitors.look(),
    }),
    new PollLoop(deps, {
      name: 'looking after values',
      everyMs: stateEveryMs,
      look: () => sweepState(deps),
    }),
  ] as const

  return {
    useCases: {
      listActivity: (_op, input) => listActivity(deps, input),
      followActivity: (op, input) => followActivity(op, deps, input),
      listState: (_op, input) => listState(deps, input),
      showState: (_op, input) => showState(deps, input),
      changeState: (op, input) => changeState(op, deps, input),
      deleteState: (op, input) => deleteState(op, deps, input),
      listAlerts: async (_op, { limit, offset, status }) => {
        const filter = { limit, offset, ...(status ? { status } : {}) }
        const unstored = status === undefined || status === 'open' ? monitors.unstored() : []
        const { alerts, total } = await listAlerts(deps, filter)
        return {
          alerts: offset === 0 ? [...unstored, ...alerts] : alerts,
          total: total + unstored.length,
        }
      },
      acknowledgeAlert: (op, input) => acknowledgeAlert(op, deps, input),
      pauseAll: (op) => pauseAll(op, deps),
      resumeAll: (op) => resumeAll(op, deps),
      health: () => health(deps),
      readiness: () => readiness(deps),
      probeSandbox: () => probeSandbox(deps),
      renderMetrics: () => renderMetrics(deps),
    },
    async start() {
      // Sessions end with the process that holds them; on a shared store others may hold theirs.
      if (!deps.storage.isShared) await deps.storage.state.removeAreas('session:')
      const [alerts, values] = polling
      alerts.start()
      values.start('later')
    },
    async stopped() {
      counting[Symbol.dispose]()
      await Promise.all(polling.map((one) => one.stopped()))
    },
  }
}
