import type { ServiceStatus } from '@gatehouse/contract'

/** A service that an operator connected. Times are ms since 1970 of the wall clock, but for `next_sync_ms`: it is of the service clock. */
export type StoredService = {
  readonly name: string
  readonly kind: string
  readonly settings_json: string
  /** Names of the credentials that the vault keeps for it. */
  readonly secrets: readonly string[]
  /** Agents that may use the service; `*` for every agent. */
  readonly agents: readonly string[]
  readonly connected_ms: number
  /** One more each time it is connected anew: what belongs to an older one is dropped. */
  readonly generation: number
  readonly status: ServiceStatus
  /** Opaque; null before anything was read. */
  readonly cursor: string | null
  /** Counts the syncs begun: entries are stamped with it. */
  readonly syncs: number
  /** Whether a run that reads everything has not ended yet. */
  readonly full: boolean
  readonly last_sync_ms: number | null
  readonly next_sync_ms: number
  readonly failing_since_ms: number | null
  /** Syncs that failed in a row. */
  readonly failures: number
  readonly reason: string | null
  readonly progress_json: string | null
}

/** Fields that the sync of a service changes; the rest is the operator's. */
export type ServiceProgress = Partial<
  Pick<
    StoredService,
    | 'status'
    | 'cursor'
    | 'syncs'
    | 'full'
    | 'last_sync_ms'
    | 'next_sync_ms'
    | 'failing_since_ms'
    | 'failures'
    | 'reason'
    | 'progress_json'
  >
>

export interface ServiceStore {
  /** Must store it in place of one of the same name, with no lease. */
  put(service: StoredService): Promise<void>

  /** Must return null for an unknown name. */
  find(name: string): Promise<StoredService | null>

  /** Must return all, by name. */
  list(): Promise<readonly StoredService[]>

  remove(name: string): Promise<void>

  /**
   * Must give the lease of a service to this node if nobody holds it at `nowMs` or the node does, in one
   * step that no other node can split, and say whether it did. Both times are of the service clock.
   */
  lease(
    name: string,
    owner: string,
    times: { readonly nowMs: number; readonly untilMs: number },
  ): Promise<boolean>

  /** Must end the lease if this node holds it. */
  release(name: string, owner: string): Promise<void>

  /**
   * Must change these fields only if the service is of that generation and, where an owner is given, that
   * node holds its lease, and say whether it did: a node that lost its lease changes nothing any more.
   */
  progress(
    service: Pick<StoredService, 'name' | 'generation'>,
    change: ServiceProgress,
    owner?: string,
  ): Promise<boolean>
}
