import type { PolicySource } from '../../ports/policy.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { ServiceAdapters } from '../../ports/service-adapter.ts'
import type { AgentDirectory } from '../agent-directory.ts'
import type { Basics } from '../deps.ts'
import type { Op } from '../op.ts'
import type { OpenServices } from './open-services.ts'

/** As configured. */
export type ProxySettings = {
  /** Of a kind's operation, `mail.send`; null: as the adapter says. */
  readonly delaySecondsOf: (operation: string) => number | null
  /** Null: as each adapter says. */
  readonly syncEverySeconds: number | null
  /** How long a write can be undone after it ran. */
  readonly rollbackMs: number
  /** More writes of an agent than this in the window, and a person is asked. */
  readonly burst: { readonly limit: number; readonly windowMs: number }
}

/** What compose gives: the kinds there are, and how they are set. */
export type ServiceParts = { readonly adapters: ServiceAdapters; readonly proxy: ProxySettings }

export type ProxyDeps = Basics & {
  readonly adapters: ServiceAdapters
  readonly secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService' | 'scrub'>
  readonly proxy: ProxySettings
  readonly opened: OpenServices
  readonly directory: AgentDirectory
  readonly policy: PolicySource
  readonly node: string
  readonly signal: AbortSignal
  /** Looks at once: something is due that was not. */
  readonly nudge: { writes(): void; syncs(): void }
}

export const systemOp = ({ ids, signal }: Pick<ProxyDeps, 'ids' | 'signal'>): Op => ({
  actor: { kind: 'system' },
  request_id: ids.next('req'),
  session_id: null,
  signal,
})

/** A moment of the service clock as people read it. */
export const isoOf = ({ clock }: Pick<ProxyDeps, 'clock'>, serviceMs: number): string =>
  new Date(serviceMs - clock.now() + clock.wall()).toISOString()

/** 5 s, 10 s, 20 s, … up to a quarter of an hour. */
export const backOffMs = (failures: number): number =>
  Math.min(5_000 * 2 ** Math.max(0, failures - 1), 15 * 60_000)
