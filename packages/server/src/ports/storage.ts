import type { AgentStore, SessionStore } from './agents.ts'
import type { AlertStore } from './alerts.ts'
import type { ApprovalStore } from './approvals.ts'
import type { AuditCopies, CommitGroup } from './audit-rows.ts'
import type { GrantStore } from './grants.ts'
import type { JobStore } from './jobs.ts'
import type { RateLimits } from './limits.ts'
import type { MessageStore, SubscriptionStore } from './messages.ts'
import type { ModelStore } from './models.ts'
import type { NodeStore } from './nodes.ts'
import type { OperatorStore, UserTokenStore, WebSessionStore } from './people.ts'
import type { ProcessStore } from './process-store.ts'
import type { ReplicaStore } from './replica.ts'
import type { ScheduleStore } from './schedules.ts'
import type { SecretStore } from './secret-store.ts'
import type { ServiceStore } from './services.ts'
import type { SharedEventStore } from './shared-events.ts'
import type { StateStore } from './state.ts'
import type { UpstreamStore } from './upstream.ts'
import type { WakeStore } from './wakes.ts'
import type { RollbackStore, WriteStore } from './writes.ts'

export interface MetaStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string): Promise<void>

  /**
   * Must give the lease that this key names to the owner until `untilMs` if nobody holds it at `nowMs` or the owner does,
   * in one step, and say whether the owner has it.
   */
  lease(key: string, owner: string, nowMs: number, untilMs: number): Promise<boolean>

  /** Must end the lease if this owner holds it. */
  release(key: string, owner: string): Promise<void>
}

export interface ClockStore {
  /** Must return the service clock of the last group in milliseconds; 0 where there was none yet. */
  read(): Promise<number>
}

export type Stores = {
  readonly agents: AgentStore
  readonly sessions: SessionStore
  readonly sharedEvents: SharedEventStore
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
  readonly nodes: NodeStore
  readonly upstreams: UpstreamStore
  readonly services: ServiceStore
  readonly writes: WriteStore
  readonly rollbacks: RollbackStore
  readonly replica: ReplicaStore
  readonly secrets: SecretStore
}

/** Kinds of rows that another process may be waiting for. */
export type ChangedKind =
  | 'agents'
  | 'approvals'
  | 'audit'
  | 'events'
  | 'jobs'
  | 'policy'
  | 'services'
  | 'state'
  | 'upstreams'
  | 'writes'

/** Other processes of this machine that have the same store open. */
export interface StoreSharing {
  /** Whether one of them has opened it before, and upgraded it; that one closes it last. */
  readonly joins: boolean

  /** Must tell the others soon that rows of a kind are others now. */
  tell(kind: ChangedKind): void

  onForeignChange(kind: ChangedKind, listener: () => void): Disposable
}

/** An engine. Everything durable is in one: SQLite by default, PostgreSQL, or memory for tests. */
export interface Storage extends Stores, AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres'

  /** Whether other processes may use the store at the same time. */
  readonly isShared: boolean

  /** Whether these may be nodes on other machines, which know each other by the store alone. */
  readonly isNetworked: boolean

  /** Must be the same for as long as the store exists, and another one for every other store. */
  readonly id: string

  /**
   * Must call back soon after another process changed rows of the kind, and never for changes of this one. A call may be
   * missing, so whoever waits also looks from time to time; where nobody shares the store there is none.
   */
  onForeignChange(kind: ChangedKind, listener: () => void): Disposable

  /** Must return the time of the wall clock that all who share the store can see, in ms since 1970. */
  wallMs(): Promise<number>

  /** Copies of entries: of all nodes where the store is networked; elsewhere of a log that lay in it, until it is moved. */
  readonly copies: AuditCopies

  readonly limits: RateLimits

  /**
   * Must run the work in one transaction, isolated from every other, durable when the promise resolves;
   * must undo all of it when the work throws.
   */
  transaction<T>(work: (tx: Stores) => Promise<T>): Promise<T>

  /**
   * Must take in what follows from a group that is in the log, once: uses of limits, invocations, the clock and, where
   * the store is networked, copies of its entries. Every read of agents, sessions and the clock must include it when
   * this resolves, or at once where it is null; it may be durable later, since what is not counted by the next start is recorded again.
   */
  record(group: CommitGroup): Promise<void> | null

  /** Must return the number of the first entry of a chain that is not durably recorded. */
  recorded(chain: string): Promise<number>

  /** Must have made durable what was recorded before, when it resolves. */
  flush(): Promise<void>
}
