import type {
  ActivityPage,
  Alert,
  AlertHandling,
  AuditEntry,
  AuditFilter,
  AuditPage,
  AuditProof,
  AuditTarget,
  AuditTargetTest,
  Certificate,
  Configuration,
  FailedNotification,
  Health,
  HealthStatus,
  Integrity,
  MuteAlerts,
  NotificationTarget,
  NotificationTest,
  RetentionStatus,
  RetriedNotifications,
  RouteAlerts,
  SandboxReport,
  SystemStatus,
  UnmuteAlerts,
} from '@gatehouse/contract'
import type { AlertFilter } from '../../ports/alerts.ts'
import type { AuditReader } from '../../ports/audit.ts'
import type { AuditExports } from '../../ports/audit-export.ts'
import type { Backups } from '../../ports/backup.ts'
import type { AgentAlerts, SystemFacts } from '../../ports/capability.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { type ActivityBatch, followActivity, listActivity } from './activity.ts'
import { muteAlerts, routeAlerts, showAlertHandling, unmuteAlerts } from './alert-handling.ts'
import { AlertMonitors, type MonitorDeps } from './alert-monitors.ts'
import { acknowledgeAlert, alertsOf, listAlerts } from './alerts.ts'
import {
  type AuditAccess,
  acknowledgeAudit,
  applyRetention,
  proveAuditEntry,
  queryAudit,
  reindexAudit,
  showAuditEntry,
} from './audit-access.ts'
import { type CertificateDeps, showCertificate } from './certificate.ts'
import { type FiguresInput, type FiguresOutcome, getFigures } from './figures.ts'
import type { GateWatch } from './gate-watch.ts'
import { type HealthDeps, health, readiness } from './health.ts'
import { type MakeBackupInput, makeBackup } from './make-backup.ts'
import { renderMetrics } from './metrics.ts'
import type { Notifications } from './notifications.ts'
import { probeSandbox } from './sandbox-access.ts'
import { status, systemFacts } from './service-state.ts'

export type SupervisionDeps = Basics &
  Omit<HealthDeps, 'startedMs'> &
  MonitorDeps &
  CertificateDeps & {
    readonly version: string
    readonly settings: { readonly configuration: Pick<Configuration, 'settings' | 'file'> }
    readonly audit: AuditReader & AuditAccess
    readonly auditExports: AuditExports
    readonly metrics: Metrics
    readonly sessions: SessionTable
    readonly notifications: Notifications
    readonly processesRunning: () => number
    readonly gateWatch: GateWatch
    /** Absent where nothing lies in files, as in tests. */
    readonly backups: Backups
  }

export interface SupervisionUseCases {
  status(op: Op): Promise<SystemStatus>
  health(op: Op): Promise<Health>
  /** The same in a word, at once. */
  readiness(): HealthStatus
  /** Every active setting and where its value comes from, without secrets. */
  configuration(op: Op): Configuration
  /** Raises `Conflict` where no server runs. */
  showCertificate(op: Op): Promise<Certificate>
  /** Runs a small program in the sandbox, and says what holds. */
  probeSandbox(op: Op): Promise<SandboxReport>
  /** In the Prometheus text format. */
  renderMetrics(op: Op): Promise<string>

  // Activity as it happens, or page by page.
  listActivity(
    op: Op,
    input: { agent?: string; limit: number; offset: number },
  ): Promise<ActivityPage>
  /** From the place `after`, or from now on; ends with the operation's signal. */
  followActivity(op: Op, input: { after?: string; agent?: string }): AsyncIterable<ActivityBatch>

  /** Numbers of calls over time. */
  getFigures(op: Op, input: FiguresInput): Promise<FiguresOutcome>

  // The log
  queryAudit(op: Op, input: AuditFilter): Promise<AuditPage>
  showAuditEntry(op: Op, input: { id: string }): Promise<AuditEntry>
  verifyAudit(op: Op): Promise<Integrity>
  /** Must return what it takes to check one entry without the log. Raises `NotFound`. */
  proveAuditEntry(op: Op, input: { readonly id: string }): Promise<AuditProof>
  /** After a failure is understood: the log goes on from here, and an entry says so. */
  acknowledgeAudit(op: Op, input: { reason: string }): Promise<Integrity>
  /** The index by which entries are found is made anew from the log. */
  reindexAudit(op: Op): Promise<Integrity>
  showRetention(op: Op): Promise<RetentionStatus>
  /** Removes what is due, and says how the log stands then. */
  applyRetention(op: Op): Promise<RetentionStatus>
  listAuditTargets(op: Op): Promise<readonly AuditTarget[]>
  testAuditTarget(op: Op, input: { readonly name: string }): Promise<AuditTargetTest>
  exportAudit(op: Op): AsyncIterable<string>

  listAlerts(
    op: Op,
    input: AlertFilter,
  ): Promise<{ readonly alerts: readonly Alert[]; readonly total: number }>
  acknowledgeAlert(op: Op, input: { alert_id: string }): Promise<Alert>

  showAlertHandling(op: Op): Promise<AlertHandling>
  muteAlerts(op: Op, input: MuteAlerts): Promise<AlertHandling>
  unmuteAlerts(op: Op, input: UnmuteAlerts): Promise<AlertHandling>
  /** Raises `NotificationTargetNotFound`, or `Conflict` for a target that takes no alerts. */
  routeAlerts(op: Op, input: RouteAlerts): Promise<AlertHandling>

  listNotifications(op: Op): Promise<readonly NotificationTarget[]>
  listFailedNotifications(op: Op, input: { name: string }): Promise<readonly FailedNotification[]>
  testNotification(op: Op, input: { name: string }): Promise<NotificationTest>
  retryNotifications(op: Op, input: { name: string }): Promise<RetriedNotifications>

  /** One encrypted file with everything that makes this node; ends with the operation's signal. */
  makeBackup(op: Op, input: MakeBackupInput): Promise<AsyncIterable<Uint8Array>>
}

export type Supervision = Part<SupervisionUseCases> & {
  systemOf(): SystemFacts
  alertsOf(call: Call): AgentAlerts
}

const alertsEveryMs = 10_000

/** Service as people see it: health, activity, alerts and notifications. */
export function bindSupervision(given: SupervisionDeps): Supervision {
  const deps = { ...given, startedMs: given.clock.now() }
  const { audit, notifications, gateWatch } = deps
  const monitors = new AlertMonitors(deps)
  const handling = { ...deps, notifier: notifications.notifier }
  const counting = deps.auditLog.onCommit((commit) => deps.metrics.committed(commit))
  const looking = new PollLoop(deps, {
    name: 'looking for alerts',
    everyMs: alertsEveryMs,
    look: () => monitors.look(),
  })

  return {
    useCases: {
      status: () => status(deps),
      health: () => health(deps),
      readiness: () => readiness(deps),
      configuration: () => ({ ...deps.settings.configuration, version: deps.version }),
      showCertificate: async () => showCertificate(deps),
      probeSandbox: () => probeSandbox(deps),
      renderMetrics: () => renderMetrics(deps),

      listActivity: (_op, input) => listActivity(deps, input),
      followActivity: (op, input) => followActivity(op, deps, input),

      getFigures: (op, input) => getFigures(op, deps, input),

      queryAudit: (_op, input) => queryAudit(deps, input),
      showAuditEntry: (_op, input) => showAuditEntry(deps, input),
      verifyAudit: async () => gateWatch.askLogs(await audit.verify(), 'verify log', null),
      proveAuditEntry: (_op, input) => proveAuditEntry(deps, input),
      acknowledgeAudit: (op, input) => acknowledgeAudit(op, deps, input),
      reindexAudit: (op) => reindexAudit(op, deps),
      showRetention: () => gateWatch.retention(audit.retention(), null),
      applyRetention: (op) => applyRetention(op, deps),
      listAuditTargets: () => deps.auditExports.list(),
      testAuditTarget: async (_op, { name }) => deps.auditExports.test(name),
      exportAudit: () => audit.export(),

      listAlerts: (_op, filter) => listAlerts(deps, filter, monitors.unstored()),
      acknowledgeAlert: (op, input) => acknowledgeAlert(op, deps, input),

      showAlertHandling: () => showAlertHandling(handling),
      muteAlerts: (op, input) => muteAlerts(op, handling, input),
      unmuteAlerts: (op, input) => unmuteAlerts(op, handling, input),
      routeAlerts: (op, input) => routeAlerts(op, handling, input),

      listNotifications: () => notifications.list(),
      listFailedNotifications: (_op, { name }) => notifications.failed(name),
      testNotification: (op, { name }) => notifications.test(op, name),
      retryNotifications: async (op, { name }) => ({
        name,
        retried: await notifications.retry(op, name),
      }),

      makeBackup: (op, input) => makeBackup(op, deps, input),
    },
    systemOf: () => systemFacts(deps),
    alertsOf: (call) => alertsOf(deps, call),
    async start() {
      looking.start()
      await notifications.start()
    },
    async stopped() {
      counting[Symbol.dispose]()
      await Promise.all([looking.stopped(), notifications.stopped()])
    },
  }
}
