import type { Alert, AlertKind, AlertSeverity } from '@gatehouse/contract'
import type { Host } from '../../ports/host.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { raiseAlert, resolveAlert } from './alerts.ts'
import type { AuditAccess } from './audit-access.ts'
import type { GateWatch } from './gate-watch.ts'
import type { HealthDeps } from './health.ts'
import { logsHealth } from './logs-together.ts'

const diskCriticalPercent = 97

export type MonitorDeps = Basics & {
  readonly audit: Pick<AuditAccess, 'health'>
  readonly gateWatch: Pick<GateWatch, 'facts'>
  readonly policy: PolicySource
  readonly vault: Pick<Vault, 'state'>
  readonly host: Host
  readonly signal: AbortSignal
  readonly settings: {
    readonly 'alerts.disk_percent': number
    readonly 'alerts.approval_wait': number
  }
  readonly partsHealth: HealthDeps['partsHealth']
}

type Warning = {
  readonly severity: AlertSeverity
  readonly message: string
  readonly context: Readonly<Record<string, unknown>>
}
type Monitor = { readonly kind: AlertKind; look(deps: MonitorDeps): Promise<Warning | null> }

const disk: Monitor = {
  kind: 'disk',
  async look({ host, settings }) {
    const threshold = settings['alerts.disk_percent']
    const { disk_percent } = await host.resources()
    if (disk_percent < threshold) return null
    return {
      severity: disk_percent >= diskCriticalPercent ? 'critical' : 'warning',
      message: `The disk of the data directory is more than ${threshold} % full; once it is full, nothing runs.`,
      context: { disk_percent, threshold_percent: threshold },
    }
  },
}

const audit: Monitor = {
  kind: 'audit',
  async look(deps) {
    const { status, reason = '' } = logsHealth(deps.audit.health(), await deps.gateWatch.facts())
    if (status === 'healthy') return null
    const message = `The audit log is ${status}: ${reason}`
    return { severity: 'critical', message, context: { status, reason } }
  },
}

const vault: Monitor = {
  kind: 'vault',
  async look(deps) {
    const { integrity, tampered, reason, remedy } = deps.vault.state()
    if (integrity === 'verified') return null
    const message = `The vault was tampered with: ${reason}; ${remedy}.`
    return { severity: 'critical', message, context: { secrets: tampered.length } }
  },
}

const policy: Monitor = {
  kind: 'policy',
  async look(deps) {
    const fault = deps.policy.problems().find(({ severity }) => severity === 'error')
    if (!fault) return null
    const { file, line, column, message } = fault
    return {
      severity: 'warning',
      message: `A policy file is refused, the last good policy stays active: ${file}:${line}:${column}: ${message}`,
      context: { file, line, column },
    }
  },
}

const approvals: Monitor = {
  kind: 'approvals',
  async look({ storage, clock, settings }) {
    const waitMs = settings['alerts.approval_wait']
    const pending = await storage.approvals.list({ status: 'pending', limit: 1, offset: 0 })
    const [oldest] = pending.approvals
    if (!oldest || clock.wall() - oldest.requested_ms < waitMs) return null
    return {
      severity: 'warning',
      message: `Approvals have waited for more than ${Math.round(waitMs / 60_000)} minutes.`,
      context: { oldest: oldest.id, agent: oldest.agent, pending: pending.total },
    }
  },
}

const models: Monitor = {
  kind: 'models',
  async look({ partsHealth }) {
    const { models: found } = await partsHealth()
    if (!found || found.status === 'healthy' || found.status === 'disabled') return null
    const { status, reason = '' } = found
    return {
      severity: 'warning',
      message: `Local models are ${status}: ${reason}`,
      context: { status, reason },
    }
  },
}

const monitors: readonly Monitor[] = [disk, audit, vault, policy, models, approvals]

/**
 * Turns what is wrong into alerts: one for each condition, raised when it begins and resolved when it
 * ends. What cannot be stored, because the store is what is wrong, is shown from here until it can.
 */
export class AlertMonitors {
  readonly #deps: MonitorDeps
  /** The alert of each condition that holds; null until it is stored. */
  readonly #raised = new Map<string, string | null>()
  readonly #unstored = new Map<string, Alert>()

  constructor(deps: MonitorDeps) {
    this.#deps = deps
  }

  /** Alerts that hold and could not be stored. */
  unstored(): readonly Alert[] {
    return [...this.#unstored.values()]
  }

  async look(): Promise<void> {
    for (const monitor of monitors) {
      try {
        await this.#update(monitor.kind, await monitor.look(this.#deps))
      } catch (cause) {
        if (this.#deps.signal.aborted) return
        this.#deps.log.error({ err: cause, kind: monitor.kind }, 'an alert could not be stored')
      }
    }
  }

  async #update(kind: AlertKind, warning: Warning | null): Promise<void> {
    const op = systemOp(this.#deps)
    const known = this.#raised.get(kind)
    if (!warning) {
      this.#unstored.delete(kind)
      const id = known ?? (await this.#left(kind))
      if (id) await resolveAlert(op, this.#deps, id)
      this.#raised.delete(kind)
      return
    }
    if (known) return
    this.#unstored.set(kind, this.#unstored.get(kind) ?? this.#unsaved(kind, warning))
    // An alert of an earlier run that is still open is this one.
    const id =
      (await this.#left(kind)) ??
      (
        await raiseAlert(op, this.#deps, {
          source: 'system',
          kind,
          dedup_key: `system:${kind}`,
          ...warning,
        })
      ).id
    this.#raised.set(kind, id)
    this.#unstored.delete(kind)
  }

  async #left(kind: string): Promise<string | null> {
    const open = await this.#deps.storage.alerts.findOpen(`system:${kind}`)
    return open?.id ?? null
  }

  #unsaved(kind: string, { severity, message, context }: Warning): Alert {
    const { ids, clock } = this.#deps
    const at = new Date(clock.wall()).toISOString()
    return {
      id: ids.next('alert') as Alert['id'],
      source: 'system',
      kind,
      severity,
      message,
      context: { ...context },
      status: 'open',
      created_at: at,
      last_raised_at: at,
      count: 1,
      acknowledged_at: null,
      acknowledged_by: null,
    }
  }
}
