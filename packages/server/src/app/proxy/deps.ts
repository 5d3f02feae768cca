import type { PolicySource } from '../../ports/policy.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { ServiceAdapters } from '../../ports/service-adapter.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { Basics } from '../call/basics.ts'
import { wallTime } from '../call/wall-time.ts'
import type { OpenServices } from './open-services.ts'

export type ProxySettings = {
  /** Seconds by kind and operation, `mail.send`; others as their adapter says. */
  readonly 'proxy.delays': ReadonlyMap<string, number>
  /** Null: as each adapter says. */
  readonly 'proxy.sync_every': number | null
  readonly 'proxy.rollback_kept': number
  readonly 'proxy.burst_limit': number
  readonly 'proxy.burst_window': number
}

export type ProxyDeps = Basics & {
  readonly adapters: ServiceAdapters
  readonly secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService' | 'scrub'>
  readonly settings: ProxySettings
  readonly opened: OpenServices
  readonly directory: AgentDirectory
  readonly policy: PolicySource
  readonly node: string
  /** False without a server: nothing is fetched or written before its next start. */
  readonly runsApproved: boolean
  /** Begins nothing while it says so. */
  readonly draining?: () => boolean
  readonly signal: AbortSignal
  /** Looks at once: something is due that was not. */
  readonly nudge: { writes(): void; syncs(): void }
}

/** A moment of the service clock as people read it. */
export const isoOf = ({ clock }: Pick<ProxyDeps, 'clock'>, serviceMs: number): string =>
  wallTime(clock, serviceMs)

/** 5 s, 10 s, 20 s, … up to a quarter of an hour. */
export const backOffMs = (failures: number): number =>
  Math.min(5_000 * 2 ** Math.max(0, failures - 1), 15 * 60_000)
