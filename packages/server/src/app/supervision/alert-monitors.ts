import type { Alert, AlertKind, AlertSeverity } from '@gatehouse/contract'
import type { Host } from '../../ports/host.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { raiseAlert, resolveAlerts } from './alerts.ts'
import type { AuditAccess } from './audit-access.ts'
import type { GateWatch } from './gate-watch.ts'
import type { HealthDeps } from './health.ts'
import { logsHealth } from './logs-together.ts'

const diskCriticalPercent = 97

export type MonitorDeps = Basics & {
  readonly node: string
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

/** Conditions that nodes may have each for itself, and one that all of them have together. */
const ofEachNode: readonly Monitor[] = [disk, audit, vault, policy, models]
const monitors: readonly Monitor[] = [...ofEachNode, approvals]

type Place = Pick<MonitorDeps, 'storage' | 'node'>

const sharedKey = (kind: AlertKind): string => `system:${kind}`
const nodePrefix = 'system:node:'
const nodeKey = (node: string, kind: AlertKind): string => `${nodePrefix}${node}:${kind}`

/** Nodes that share a store have alerts of their own: one that is well knows nothing of another one's disk. */
const keyOf = ({ storage, node }: Place, kind: AlertKind): string =>
  storage.isNetworked && kind !== approvals.kind ? nodeKey(node, kind) : sharedKey(kind)

const ofNode = ({ storage, node }: Place, monitor: Monitor, warning: Warning | null) =>
  warning && storage.isNetworked && monitor !== approvals
    ? {
        ...warning,
        message: `${warning.message} (node ${node})`,
        context: { ...warning.context, node },
      }
    : warning

/** Keys of alerts that no node looks after any more: of one that was forgotten, or from before nodes shared the store, or since. */
async function leftKeys({ storage, node }: Place): Promise<readonly string[]> {
  const held = await storage.alerts.unresolvedKeys(nodePrefix)
  if (!storage.isNetworked) return held
  // After the alerts: a node that came meanwhile is among them.
  const nodes = [node, ...(await storage.nodes.list()).map(({ name }) => name)]
  const kept = new Set(nodes.flatMap((name) => ofEachNode.map(({ kind }) => nodeKey(name, kind))))
  return [...held.filter((key) => !kept.has(key)), ...ofEachNode.map(({ kind }) => sharedKey(kind))]
}

/**
 * Turns what is wrong into alerts: one for each condition, raised when it begins and resolved when it
 * ends. What cannot be stored, because the store is what is wrong, is shown from here until it can.
 */
export class AlertMonitors {
  readonly #deps: MonitorDeps
  /** Kinds of conditions that hold and whose alerts are stored. */
  readonly #stored = new Set<AlertKind>()
  readonly #unstored = new Map<string, Alert>()

  constructor(deps: MonitorDeps) {
    this.#deps = deps
  }

  /** Alerts that hold and could not be stored. */
  unstored(): readonly Alert[] {
    return [...this.#unstored.values()]
  }

  async look(): Promise<void> {
    for (const monitor of monitors)
      await this.#trying(monitor.kind, async () =>
        this.#update(monitor.kind, ofNode(this.#deps, monitor, await monitor.look(this.#deps))),
      )
    await this.#trying('left', async () => {
      for (const key of await leftKeys(this.#deps))
        await resolveAlerts(systemOp(this.#deps), this.#deps, key)
    })
  }

  async #trying(kind: string, work: () => Promise<void>): Promise<void> {
    if (this.#deps.signal.aborted) return
    await work().catch((cause: unknown) => {
      if (this.#deps.signal.aborted) return
      this.#deps.log.error({ err: cause, kind }, 'an alert could not be looked up or stored')
    })
  }

  async #update(kind: AlertKind, warning: Warning | null): Promise<void> {
    const op = systemOp(this.#deps)
    const { alerts } = this.#deps.storage
    const key = keyOf(this.#deps, kind)
    if (!warning) {
      this.#unstored.delete(kind)
      this.#stored.delete(kind)
      return resolveAlerts(op, this.#deps, key)
    }
    if (!this.#stored.has(kind))
      this.#unstored.set(kind, this.#unstored.get(kind) ?? this.#unsaved(kind, warning))
    // Of an earlier run, or acknowledged by a person: it stays this one until its cause is gone.
    if (!(await alerts.findUnresolved(key)))
      await raiseAlert(op, this.#deps, { source: 'system', kind, dedup_key: key, ...warning })
    this.#stored.add(kind)
    this.#unstored.delete(kind)
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
