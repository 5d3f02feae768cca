import type { AuditFilter } from '@gatehouse/contract'
import { storedTimestamp } from './timestamp.ts'

/** A filter of the audit log as engines compare it. */
export type AuditConditions = {
  readonly agent: string | null
  readonly capability:
    | { readonly kind: 'exact'; readonly name: string }
    | { readonly kind: 'prefix'; readonly prefix: string }
    | null
  /** Inclusive. */
  readonly since: string | null
  /** Exclusive. */
  readonly until: string | null
  readonly result: string | null
  readonly policy_decision: string | null
  readonly session: string | null
  /** Leaves out intents: their outcome is the event. */
  readonly events?: boolean
}

const capabilityOf = (text: string | undefined): AuditConditions['capability'] => {
  if (text === undefined || text === '*') return null
  if (text.endsWith('*')) return { kind: 'prefix', prefix: text.slice(0, -1) }
  return { kind: 'exact', name: text }
}

export const auditConditions = (filter: AuditFilter): AuditConditions => ({
  agent: filter.agent ?? null,
  capability: capabilityOf(filter.capability),
  since: filter.since === undefined ? null : storedTimestamp(filter.since),
  until: filter.until === undefined ? null : storedTimestamp(filter.until),
  result: filter.result ?? null,
  policy_decision: filter.policy_decision ?? null,
  session: filter.session ?? null,
})
