import type { ComponentStatus, Health, HealthStatus } from '@gatehouse/contract'
import { GatehouseError } from '@gatehouse/contract'
import type { Host } from '../../ports/host.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Basics } from '../call/basics.ts'
import type { Components, PartHealth } from '../call/part.ts'
import type { AuditAccess } from './audit-access.ts'
import type { GateWatch } from './gate-watch.ts'
import type { Listeners } from './listeners.ts'
import { auditHealth, gateProcesses, gatewayHealth } from './logs-together.ts'
import { sandboxHealth } from './sandbox-access.ts'

export type HealthDeps = Pick<Basics, 'storage' | 'clock'> & {
  readonly startedMs: number
  readonly policy: PolicySource
  readonly audit: Pick<AuditAccess, 'health'>
  readonly vault: Pick<Vault, 'state'>
  readonly host: Host
  readonly listeners: Listeners
  readonly gateWatch: Pick<GateWatch, 'facts'>
  readonly sandbox: Sandbox
  readonly settings: { readonly 'alerts.disk_percent': number }
  /** Health of the components that the parts own. */
  readonly partsHealth: () => Promise<Pick<Components, 'proxy' | 'models' | 'nodes' | 'upstreams'>>
  /** Lines of the log that could not be written. */
  readonly droppedLogLines: () => number
}

const storeAnswersInMs = 2_000

export const uptimeOf = (deps: Pick<HealthDeps, 'clock' | 'startedMs'>): number =>
  Math.floor((deps.clock.now() - deps.startedMs) / 1000)

const policyHealth = (deps: Pick<HealthDeps, 'policy'>): PartHealth => {
  const error = deps.policy.problems().find(({ severity }) => severity === 'error')
  return error
    ? {
        status: 'degraded',
        reason: `${error.file}:${error.line}:${error.column}: ${error.message}`,
      }
    : { status: 'healthy' }
}

/** A vault that is locked or tampered with stops only what needs its secrets. */
const vaultHealth = ({ vault }: Pick<HealthDeps, 'vault'>): Components['vault'] => {
  const { status, locked, reason, remedy } = vault.state()
  return status === 'degraded'
    ? { status, reason: `${reason}; ${remedy}`, locked }
    : { status, locked }
}

/** Asks the store something, and does not wait for an answer that never comes. */
async function storageHealth(deps: HealthDeps, diskPercent: number): Promise<PartHealth> {
  const { storage, clock } = deps
  const late = new AbortController()
  try {
    const answered = await Promise.race([
      storage.clock.read().then(() => true),
      clock.sleep(storeAnswersInMs, late.signal).then(() => false),
    ])
    if (!answered)
      return { status: 'unhealthy', reason: `no answer within ${storeAnswersInMs / 1000} s` }
  } catch (cause) {
    return {
      status: 'unhealthy',
      reason: cause instanceof GatehouseError ? cause.message : 'it does not answer',
    }
  } finally {
    late.abort()
  }
  return diskPercent >= deps.settings['alerts.disk_percent']
    ? { status: 'degraded', reason: `the disk is ${diskPercent} % full` }
    : { status: 'healthy' }
}

/** Each component as it begins a sentence, with its verb. */
const beginnings: Readonly<Record<keyof Components, string>> = {
  gateway: 'The gateway is',
  vault: 'The vault is',
  models: 'Local models are',
  audit: 'The audit log is',
  proxy: 'The service proxy is',
  upstreams: 'MCP servers are',
  dashboard: 'The dashboard is',
  policy: 'The policy is',
  storage: 'The store is',
  sandbox: 'The sandbox is',
  log: 'The log is',
  nodes: 'Nodes are',
}

const worst = (all: readonly ComponentStatus[]): HealthStatus =>
  all.includes('unhealthy') ? 'unhealthy' : all.includes('degraded') ? 'degraded' : 'healthy'

/** How each part is, as it was just found, and why it is not well. */
export async function health(deps: HealthDeps): Promise<Health> {
  const resources = await deps.host.resources()
  const storage = await storageHealth(deps, resources.disk_percent)
  const others = await deps.gateWatch.facts()
  const audit = auditHealth(deps.audit.health(), others)
  const components: Components = {
    gateway: {
      ...gatewayHealth(deps.listeners.of('gateway'), others),
      uptime: uptimeOf(deps),
      ...gateProcesses(others),
    },
    vault: vaultHealth(deps),
    audit: { ...audit, entries: others.reduce((sum, { entries }) => sum + entries, audit.entries) },
    dashboard: deps.listeners.of('dashboard'),
    policy: { ...policyHealth(deps), version: deps.policy.current().version },
    storage: { ...storage, engine: deps.storage.engine },
    sandbox: sandboxHealth(deps.sandbox),
    // Counted rather than degraded: the service works, and an output that nobody reads may be meant so.
    log: { status: 'healthy', dropped_lines: deps.droppedLogLines() },
    ...(await deps.partsHealth()),
  }
  const parts = Object.entries(components) as [keyof Components, PartHealth][]
  return {
    status: worst(parts.map(([, { status }]) => status)),
    reasons: parts
      .filter(([, { status }]) => status === 'degraded' || status === 'unhealthy')
      .map(
        ([name, { status, reason }]) =>
          `${beginnings[name]} ${status}${reason ? `: ${reason}` : ''}`,
      ),
    components,
    resources,
  }
}

/** Whether calls can be served, without asking anybody: cheap enough for a probe without a login. */
export const readiness = (
  deps: Pick<HealthDeps, 'listeners' | 'audit' | 'policy' | 'vault'>,
): HealthStatus =>
  deps.listeners.notReady() === null
    ? worst([deps.audit.health().status, policyHealth(deps).status, vaultHealth(deps).status])
    : 'unhealthy'
