import type { AgentStore, SessionStore } from './agents.ts'
import type { AlertStore } from './alerts.ts'
import type { ApprovalStore } from './approvals.ts'
import type { AuditRow, AuditRows, CommitGroup } from './audit-rows.ts'
import type { GrantStore } from './grants.ts'
import type { JobStore } from './jobs.ts'
import type { RateLimits } from './limits.ts'
import type { MessageStore, SubscriptionStore } from './messages.ts'
import type { ModelStore } from './models.ts'
import type { OperatorStore, UserTokenStore, WebSessionStore } from './people.ts'
import type { ProcessStore } from './process-store.ts'
import type { ReplicaStore } from './replica.ts'
import type { ScheduleStore } from './schedules.ts'
import type { SecretStore } from './secret-store.ts'
import type { ServiceStore } from './services.ts'
import type { StateStore } from './state.ts'
import type { WakeStore } from './wakes.ts'
import type { RollbackStore, WriteStore } from './writes.ts'

export interface MetaStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<void>
}

export interface ClockStore {
  /** Must return the service clock of the last group in milliseconds; 0 where there was none yet. */
  read(): Promise<number>
}

export type Stores = {
  readonly agents: AgentStore
  readonly sessions: SessionStore
  readonly approvals: ApprovalStore
  readonly grants: GrantStore
  readonly userTokens: UserTokenStore
  readonly operators: OperatorStore
  readonly webSessions: WebSessionStore
  readonly meta: MetaStore
  readonly clock: ClockStore
  readonly state: StateStore
  readonly alerts: AlertStore
  readonly jobs: JobStore
  readonly processes: ProcessStore
  readonly schedules: ScheduleStore
  readonly messages: MessageStore
  readonly subscriptions: SubscriptionStore
  readonly wakes: WakeStore
  readonly models: ModelStore
  readonly services: ServiceStore
  readonly writes: WriteStore
  readonly rollbacks: RollbackStore
  readonly replica: ReplicaStore
  readonly secrets: SecretStore
}

/** The stores inside one transaction. */
export type StorageTransaction = Stores & {
  readonly auditRows: AuditRows

  /** Must store the group as a part of the transaction: it is there with all the rest, or not at all. */
  storeGroup(group: CommitGroup): Promise<void>
}

/** One of two places for records, so that one can be filled while what the other holds is stored. */
export type RecordPlace = {
  readonly half: 0 | 1
  /** Whether everything kept in this half may be forgotten. */
  readonly fresh: boolean
}

/**
 * For engines whose own commit costs more than one synced append to a file: the caller keeps a group
 * durably, and the engine stores it a little later together with others.
 */
export interface GroupPromises {
  /**
   * Must call `keep` once, with a record (text in UTF-8, good until it returns) that brings the group back when
   * the store is next opened with it. Where it returns true, every read of the log, of agents, of sessions and
   * of `meta` and the clock must include the group from then on; where it returns false (there is no room), nothing happened
   * and `add` must return false. Must raise where `keep` does, or where earlier groups cannot be stored.
   */
  add(group: CommitGroup, keep: (record: Uint8Array, place: RecordPlace) => boolean): boolean

  /** Must have stored all groups when it resolves. */
  settle(): Promise<void>

  /** How many rows were kept and are not known to be stored. */
  readonly pendingRows: number

  /** Whether they cannot be stored because other rows are in their place. */
  readonly isBlocked: boolean
}

/** An engine. Everything durable is in one: SQLite by default, PostgreSQL, or memory for tests. */
export interface Storage extends Stores, AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres' | 'memory'

  /** Must be the same for as long as the store exists, and another one for every other store. */
  readonly id: string

  readonly auditRows: AuditRows

  readonly limits: RateLimits

  /**
   * Must run the work in one transaction, isolated from every other, durable when the promise resolves;
   * must undo all of it when the work throws.
   */
  transaction<T>(work: (tx: StorageTransaction) => Promise<T>): Promise<T>

  /** Must store the whole group in one durable transaction, as fast as the engine can: it is the hot path. */
  commitGroup(group: CommitGroup): Promise<void>

  readonly promises?: GroupPromises

  /**
   * Must remove the rows of a chain with seq in [from, to) after handing them to `keep`, in one durable
   * transaction: entries that this service did not write, whatever stands in the way of that. Must resolve with
   * their number. Rows that were kept and not stored yet are ours, and must not be handed over.
   */
  evictRows(
    chain: string,
    from: number,
    to: number,
    keep: (rows: readonly AuditRow[]) => void,
  ): Promise<number>

  /**
   * Must be false only when nobody but this process changed the store since the last call. Once it was
   * true, reads must see what the disk holds now, nothing kept from before. Cheap: it runs at each
   * audit query.
   */
  foreignChange(): Promise<boolean>
}
