import type { AlertSeverity, AlertStatus } from '@gatehouse/contract'
import type { Period } from './period.ts'

export type StoredAlert = {
  readonly id: string
  readonly source: string
  readonly kind: string
  readonly severity: AlertSeverity
  readonly message: string
  readonly context_json: string
  /** Of open alerts with one key there is one at most. */
  readonly dedup_key: string
  readonly status: AlertStatus
  readonly created_ms: number
  readonly raised_ms: number
  readonly count: number
  readonly acknowledged_ms: number | null
  readonly acknowledged_by: string | null
}

/** The period is that in which alerts were raised first. */
export type AlertFilter = Period & {
  readonly status?: AlertStatus
  readonly severity?: AlertSeverity
  readonly source?: string
  readonly limit: number
  readonly offset: number
}

export interface AlertStore {
  insert(alert: StoredAlert): Promise<void>

  find(id: string): Promise<StoredAlert | null>

  /** Must return the open alert with this key, or null. */
  findOpen(dedupKey: string): Promise<StoredAlert | null>

  /** Must return the newest alert with this key that is not resolved, or null. */
  findUnresolved(dedupKey: string): Promise<StoredAlert | null>

  /** Must return the keys with this prefix that alerts have which are not resolved, each once. */
  unresolvedKeys(prefix: string): Promise<readonly string[]>

  /** Must store `next` only if status and count are still those of `current`, and say whether it did. */
  replace(current: StoredAlert, next: StoredAlert): Promise<boolean>

  /** Must list the newest first, with the total. */
  list(
    filter: AlertFilter,
  ): Promise<{ readonly alerts: readonly StoredAlert[]; readonly total: number }>

  countOpen(source?: string): Promise<number>
}
