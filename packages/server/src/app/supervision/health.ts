import type { ComponentStatus, Health, HealthStatus } from '@gatehouse/contract'
import { GatehouseError } from '@gatehouse/contract'
import type { Host } from '../../ports/host.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Sandbox } from '../../ports/sandbox.ts'
import type { Basics } from '../call/basics.ts'
import type { AuditAccess } from './audit-access.ts'
import type { Doors, PartHealth } from './doors.ts'
import { sandboxHealth } from './sandbox-access.ts'

/** Parts that a version or a configuration may not have. */
export type HealthParts = {
  readonly vault?: () => PartHealth & { readonly locked: boolean }
  readonly proxy?: () => PartHealth & { readonly services: number }
  /** Lines of the log that could not be written. */
  readonly droppedLogLines?: () => number
  readonly models?: () => Promise<
    PartHealth & { readonly installed: number; readonly catalog: string }
  >
}

export type HealthDeps = Pick<Basics, 'storage' | 'clock'> & {
  readonly startedMs: number
  readonly policy: PolicySource
  readonly auditHealth: AuditAccess['health']
  readonly host: Host
  readonly doors: Doors
  readonly sandbox: Sandbox
  readonly settings: { readonly 'alerts.disk_percent': number }
  readonly parts: HealthParts
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

const worst = (all: readonly ComponentStatus[]): HealthStatus =>
  all.includes('unhealthy') ? 'unhealthy' : all.includes('degraded') ? 'degraded' : 'healthy'

/** How each part is, as it was just found, and why it is not well. */
export async function health(deps: HealthDeps): Promise<Health> {
  const resources = await deps.host.resources()
  const storage = await storageHealth(deps, resources.disk_percent)
  const noVault = {
    status: 'disabled',
    reason: 'this version has no vault',
    locked: false,
  } as const
  const noProxy = {
    status: 'disabled',
    reason: 'this version has no service proxy',
    services: 0,
  } as const
  const components: Health['components'] = {
    gateway: { ...deps.doors.of('gateway'), uptime: uptimeOf(deps) },
    vault: deps.parts.vault?.() ?? noVault,
    audit: deps.auditHealth(),
    proxy: deps.parts.proxy?.() ?? noProxy,
    dashboard: deps.doors.of('dashboard'),
    policy: { ...policyHealth(deps), version: deps.policy.current().version },
    storage: { ...storage, engine: deps.storage.engine },
    sandbox: sandboxHealth(deps.sandbox),
    // Counted rather than degraded: the service works, and an output that nobody reads may be meant so.
    log: { status: 'healthy', dropped_lines: deps.parts.droppedLogLines?.() ?? 0 },
    models: (await deps.parts.models?.()) ?? {
      status: 'disabled',
      reason: 'no models are kept here',
      installed: 0,
      catalog: 'not_configured',
    },
  }
  const parts = Object.entries(components)
  return {
    status: worst(parts.map(([, { status }]) => status)),
    reasons: parts
      .filter(([, { status }]) => status === 'degraded' || status === 'unhealthy')
      .map(([name, { status, reason }]) => `${name} is ${status}${reason ? `: ${reason}` : ''}`),
    components,
    resources,
  }
}

/** Whether calls can be served, without asking anybody: cheap enough for a probe without a login. */
export const readiness = (
  deps: Pick<HealthDeps, 'doors' | 'auditHealth' | 'policy' | 'parts'>,
): HealthStatus =>
  deps.doors.notReady() === null
    ? worst([
        deps.auditHealth().status,
        policyHealth(deps).status,
        deps.parts.vault?.().status ?? 'disabled',
      ])
    : 'unhealthy'
