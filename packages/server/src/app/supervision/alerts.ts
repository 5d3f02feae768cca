import { type Alert, type AlertKind, type AlertSeverity, GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AlertFilter, StoredAlert } from '../../ports/alerts.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { AgentAlerts } from '../../ports/capability.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { actorText, type Op } from '../call/op.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'digest' | 'events'>

const openPerAgentMax = 100
const iso = (ms: number): string => new Date(ms).toISOString()

export const alertRecord = (alert: StoredAlert): Alert => ({
  id: alert.id as Alert['id'],
  source: alert.source,
  kind: alert.kind,
  severity: alert.severity,
  message: alert.message,
  context: parseStored(alert.context_json, 'alerts.context_json'),
  status: alert.status,
  created_at: iso(alert.created_ms),
  last_raised_at: iso(alert.raised_ms),
  count: alert.count,
  acknowledged_at: alert.acknowledged_ms === null ? null : iso(alert.acknowledged_ms),
  acknowledged_by: alert.acknowledged_by,
})

export type NewAlert = {
  readonly source: string
  readonly kind: AlertKind
  readonly severity: AlertSeverity
  readonly message: string
  readonly context: Readonly<Record<string, unknown>>
  /** Alerts with one key are one alert as long as it is open. */
  readonly dedup_key: string
}

const agentOf = (source: string): string => (source.startsWith('agent:') ? source.slice(6) : '')

const changed = (alert: StoredAlert, act: string, op: Op) =>
  actDraft(op, act, {
    agent: agentOf(alert.source),
    arguments: { alert_id: alert.id, kind: alert.kind, severity: alert.severity },
    detail: { message: alert.message },
  })

const newAlert = (deps: Deps, given: NewAlert): StoredAlert => {
  const { context, ...facts } = given
  const nowMs = deps.clock.wall()
  return {
    ...facts,
    id: deps.ids.next('alert'),
    context_json: JSON.stringify(context),
    status: 'open',
    created_ms: nowMs,
    raised_ms: nowMs,
    count: 1,
    acknowledged_ms: null,
    acknowledged_by: null,
  }
}

async function assertFewOpen(tx: AuditTransaction, source: string): Promise<void> {
  if (agentOf(source) === '' || (await tx.alerts.countOpen(source)) < openPerAgentMax) return
  throw new GatehouseError('QuotaExceeded', { limit: openPerAgentMax, what: 'open alerts' })
}

type Raised = { readonly alert: StoredAlert; readonly isNew: boolean }

/** Raises an alert inside the transaction that has its cause; `publishRaised` follows once that stands. */
export async function raiseIn(
  op: Op,
  deps: Deps,
  tx: AuditTransaction,
  given: NewAlert,
): Promise<Raised> {
  const open = await tx.alerts.findOpen(given.dedup_key)
  if (open) {
    const next = { ...open, count: open.count + 1, raised_ms: deps.clock.wall() }
    await tx.alerts.replace(open, next)
    return { alert: next, isNew: false }
  }
  await assertFewOpen(tx, given.source)
  const alert = newAlert(deps, given)
  await tx.alerts.insert(alert)
  tx.append(changed(alert, 'alert.raised', op))
  return { alert, isNew: true }
}

export function publishRaised({ events }: Pick<Deps, 'events'>, { alert, isNew }: Raised): void {
  const { id, kind, severity, message } = alert
  if (isNew)
    events.publish({ type: 'alert.raised', agent: '', data: { id, kind, severity, message } })
}

/** Raises an alert, or counts one more of an open one that says the same. */
export async function raiseAlert(op: Op, deps: Deps, given: NewAlert): Promise<StoredAlert> {
  const raised = await deps.auditLog.transaction((tx) => raiseIn(op, deps, tx, given))
  publishRaised(deps, raised)
  return raised.alert
}

const isIn =
  ({ status = 'open', severity, since_ms = 0, until_ms = Number.POSITIVE_INFINITY }: AlertFilter) =>
  (alert: Alert): boolean => {
    const at = Date.parse(alert.created_at)
    const isOfIts = severity === undefined || alert.severity === severity
    return status === 'open' && isOfIts && at >= since_ms && at <= until_ms
  }

/** `unstored`: alerts that hold and that the store could not take; they come first. */
export async function listAlerts(
  deps: Pick<Basics, 'storage'>,
  filter: AlertFilter,
  unstored: readonly Alert[],
): Promise<{ readonly alerts: readonly Alert[]; readonly total: number }> {
  const open = unstored.filter(isIn(filter))
  const { alerts, total } = await deps.storage.alerts.list(filter)
  return {
    alerts: [...(filter.offset === 0 ? open : []), ...alerts.map(alertRecord)],
    total: total + open.length,
  }
}

/** A person has seen it. Seeing it twice is fine; who saw it first stays. */
export async function acknowledgeAlert(
  op: Op,
  deps: Deps,
  { alert_id, source }: { readonly alert_id: string; readonly source?: string },
): Promise<Alert> {
  const alert = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.alerts.find(alert_id)
    // An agent's look at another's alert is one at an alert that is not there.
    if (!current || (source !== undefined && current.source !== source))
      throw new GatehouseError('AlertNotFound', { alert_id })
    if (current.status !== 'open') return current
    const next: StoredAlert = {
      ...current,
      status: 'acknowledged',
      acknowledged_ms: deps.clock.wall(),
      acknowledged_by: actorText(op.actor),
    }
    await tx.alerts.replace(current, next)
    tx.append(changed(next, 'alert.acknowledged', op))
    return next
  })
  return alertRecord(alert)
}

/** Ends the alerts with this key inside the transaction that knows their cause to be gone. */
export async function resolveIn(op: Op, tx: AuditTransaction, dedupKey: string): Promise<void> {
  for (;;) {
    const current = await tx.alerts.findUnresolved(dedupKey)
    if (!current) return
    const next: StoredAlert = { ...current, status: 'resolved' }
    if (await tx.alerts.replace(current, next)) tx.append(changed(next, 'alert.resolved', op))
  }
}

/** Ends the alerts whose cause is gone: those that people acknowledged may be several. */
export async function resolveAlerts(op: Op, deps: Deps, dedupKey: string): Promise<void> {
  if (await deps.storage.alerts.findUnresolved(dedupKey))
    await deps.auditLog.transaction((tx) => resolveIn(op, tx, dedupKey))
}

/** An agent's own alerts, through the capabilities of the group `alerts`. */
export const alertsOf = (deps: Deps, { op }: Call): AgentAlerts => {
  const source = actorText(op.actor)
  return {
    async send({ message, severity, context }) {
      const dedup_key = `${source}:${deps.digest.sha256(`${severity}\n${message}`)}`
      const given = { source, kind: 'agent' as const, severity, message, context, dedup_key }
      const { id, status, count } = await raiseAlert(op, deps, given)
      return { alert_id: id, status, count }
    },
    async list(status, limit) {
      const filter = { source, limit, offset: 0, ...(status ? { status } : {}) }
      const { alerts, total } = await deps.storage.alerts.list(filter)
      return {
        alerts: alerts.map((stored) => {
          const { id, source: _own, kind: _kind, ...rest } = alertRecord(stored)
          return { alert_id: id, ...rest }
        }),
        total,
        truncated: total > alerts.length,
      }
    },
    async find(alert_id) {
      const stored = await deps.storage.alerts.find(alert_id)
      if (stored?.source !== source) throw new GatehouseError('AlertNotFound', { alert_id })
      return alertRecord(stored)
    },
    async acknowledge(alert_id) {
      const { id, status, acknowledged_at } = await acknowledgeAlert(op, deps, { alert_id, source })
      return { alert_id: id, status, acknowledged_at }
    },
  }
}
