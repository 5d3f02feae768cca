import type { AgentStore, SessionStore } from './agents.ts'
import type { AlertStore } from './alerts.ts'
import type { ApprovalStore } from './approvals.ts'
import type { AuditIndex, CommitGroup } from './audit-rows.ts'
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
export type StorageTransaction = Stores & { readonly auditIndex: AuditIndex }

/** Frames of the log that lie beside each other: bytes of one of its files. */
export type FramePlace = { readonly file: string; readonly at: number; readonly bytes: number }

/** For engines whose own commit costs more than one synced append to a file: groups are indexed behind the log. */
export interface IndexBehind {
  /**
   * Takes in groups that are in the log, in order, a little later. Every read of the index, of agents, of sessions
   * and of the clock must include them from then on.
   */
  note(place: FramePlace, rows: number): void

  /** Must have taken in everything that was noted before when it resolves. */
  caughtUp(): Promise<void>
}

/** An engine. Everything durable is in one: SQLite by default, PostgreSQL, or memory for tests. */
export interface Storage extends Stores, AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres' | 'memory'

  /** Whether other nodes may use the store at the same time. */
  readonly isShared: boolean

  /** Must be the same for as long as the store exists, and another one for every other store. */
  readonly id: string

  readonly auditIndex: AuditIndex

  readonly limits: RateLimits

  /**
   * Must run the work in one transaction, isolated from every other, durable when the promise resolves;
   * must undo all of it when the work throws.
   */
  transaction<T>(work: (tx: StorageTransaction) => Promise<T>): Promise<T>

  /**
   * Must take in a group that is in the log, in one durable transaction. Rows that the index has are passed over, and
   * nothing is counted twice.
   */
  indexGroup(group: CommitGroup): Promise<void>

  readonly behind?: IndexBehind

  /**
   * Must be false only when nobody but this process changed the index since the last call. Once it was
   * true, reads must see what the disk holds now, nothing kept from before. Cheap: it runs at each
   * audit query.
   */
  foreignChange(): Promise<boolean>
}
