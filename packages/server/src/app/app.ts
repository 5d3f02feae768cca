import type {
  ActivityPage,
  Agent,
  AgentDetail,
  AgentWithToken,
  Alert,
  AlertStatus,
  Approval,
  ApprovalOutcome,
  ApprovalStatus,
  AuditEntry,
  AuditFilter,
  AuditPage,
  AuditProof,
  BufferedWrite,
  CapabilityDescription,
  CapabilityError,
  CapabilityListing,
  ConnectedService,
  ConnectService,
  CreateAgent,
  CreatedUserToken,
  CreateUserToken,
  DecideOutcome,
  DeletedState,
  DisconnectService,
  FailedNotification,
  GatehouseEvent,
  Grant,
  Health,
  HealthStatus,
  Integrity,
  KilledProcess,
  KillProcess,
  NotificationTarget,
  NotificationTest,
  Operator,
  PasswordSet,
  PausedAgents,
  PendingApproval,
  PolicyProblem,
  Process,
  ProcessLog,
  ProcessState,
  ProxyService,
  ProxyStatus,
  Remember,
  RetriedNotifications,
  RollbackPoint,
  RollbackPreview,
  RollbackStatus,
  RotateAgent,
  SandboxReport,
  Schedule,
  ServiceKind,
  ServiceTest,
  Session,
  SetState,
  SetupLink,
  StateKeys,
  StateValue,
  SyncService,
  SystemStatus,
  Transport,
  UserToken,
  WriteFilterStatus,
} from '@gatehouse/contract'
import type { Decision, TraceStep } from '../domain/policy/types.ts'
import type { Capability } from '../ports/capability.ts'
import type { StoredUserToken } from '../ports/people.ts'
import type { PolicyCheck } from '../ports/policy.ts'
import type { LogRequest } from '../ports/processes.ts'
import type { AuthenticatedAgent } from './agents/agent-directory.ts'
import type { MemoryBudget } from './call/memory-budget.ts'
import type { AgentOp, Op } from './call/op.ts'
import type { Tell } from './events/pushes.ts'
import type { InferenceUseCases } from './inference/inference.ts'
import type { ModelUseCases } from './models/models.ts'
import type { LoggedIn, WebLogin } from './people/login.ts'
import type { SetPasswordInput } from './people/operators.ts'
import type { ChangedWrite } from './proxy/change-write.ts'
import type { VaultUseCases } from './reach/vault-access.ts'
import type { ActivityBatch } from './supervision/activity.ts'
import type { MakeBackupInput } from './supervision/make-backup.ts'
import type { WakeInput, WakeVerdict } from './time/wakes.ts'

/** A value of the arguments that JSON allows and no program reads exactly, such as 2^53 + 1. */
export type UnreadableValue = {
  /** Its path inside of the arguments. */
  readonly at: string
  readonly detail: string
}

export type InvokeInput = {
  /** Dotted name. */
  readonly capability: string
  /** As parsed and scanned by the transport; frozen and validated by the gate. */
  readonly arguments: unknown
  /** What the transport could not read exactly: such a call fails by its arguments. */
  readonly unreadable?: readonly UnreadableValue[]
}

/** A name that no capability has, and those that come near it. */
export type UnknownCapability = {
  readonly kind: 'unknown'
  readonly capability: string
  readonly error: CapabilityError
  readonly did_you_mean: readonly string[]
}

/**
 * What became of a call. Transports turn each kind into their own words; internal faults and an audit
 * log that cannot be written are thrown (`GatehouseError`).
 */
export type InvokeOutcome =
  | {
      readonly kind: 'succeeded'
      readonly capability: Capability
      readonly data: Readonly<Record<string, unknown>>
      readonly text: string | null
      /** What the agent must know beside the result: that a person changed its call. */
      readonly note?: string
    }
  | { readonly kind: 'failed'; readonly error: CapabilityError }
  | { readonly kind: 'pending'; readonly pending: PendingApproval }
  | {
      readonly kind: 'denied'
      readonly reason: 'policy' | 'agent_paused'
      readonly message: string
      readonly data: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'limited'
      readonly message: string
      readonly data: {
        /** Where it is no limit of policy: as many requests wait for a person as may. */
        readonly reason?: 'too_many_pending'
        readonly retry_after_seconds: number
        readonly limit: number
        readonly window: string
      }
    }
  | {
      readonly kind: 'overloaded'
      readonly message: string
      readonly data: Readonly<Record<string, unknown>>
    }
  | UnknownCapability

/** A tool as MCP lists it, before the transport gives it MCP's words. */
export type ListedCapability = {
  readonly capability: Capability
  readonly tier: 'autonomous' | 'approval_required'
}

/** Every use case, bound to its dependencies: all that a transport may know. */
export interface App extends VaultUseCases, ModelUseCases, InferenceUseCases {
  /** What requests, runs and answers may hold of the heap. */
  readonly memory: MemoryBudget
  readonly version: string

  // Who
  /** The agent of a token, or null; constant time, whatever is sent. Revoked ones are null. */
  authenticateAgent(token: string): Promise<AuthenticatedAgent | null>
  /** Whether what was authenticated still holds: checked on each message of an open connection. */
  stillValid(name: string, credential: number): boolean
  authenticateUser(token: string): Promise<StoredUserToken | null>

  /** Wrong tokens at a door: an entry for the first of an address and minute, one with the count of the rest. */
  reportTokenFailures(input: { address: string; count: number; door: string }): Promise<void>

  // Logins of people
  needsSetup(): Promise<boolean>
  /** Raises `Conflict` once there is an operator. */
  createSetupLink(op: Op): Promise<SetupLink>
  setUp(
    op: Op,
    input: { token: string; password: string; name?: string; address: string },
  ): Promise<LoggedIn>
  login(op: Op, input: { password: string; name?: string; address: string }): Promise<LoggedIn>
  logout(op: Op, input: { id_hash: string }): Promise<void>
  /** Whose login a cookie is, or null. */
  authenticateWebSession(id: string): Promise<WebLogin | null>
  listOperators(op: Op): Promise<readonly Operator[]>
  setPassword(op: Op, input: SetPasswordInput): Promise<PasswordSet>
  removeOperator(op: Op, input: { name: string }): Promise<Operator>

  // Sessions
  openSession(
    op: Omit<AgentOp, 'session_id'>,
    input: { transport: Transport; client: { name: string; version: string } | null },
  ): Promise<Session>
  endSession(
    op: AgentOp,
    input: { session_id: string },
  ): Promise<{ session_id: string; ended_at: string }>
  /** Raises `SessionNotFound` unless the session is open and this agent's; marks it as used. */
  assertSession(op: Omit<AgentOp, 'session_id'>, input: { session_id: string }): Promise<void>

  // The gate
  listCapabilities(op: AgentOp, input: { category?: string }): Promise<readonly ListedCapability[]>
  describeCapability(
    op: AgentOp,
    input: { name: string },
  ): Promise<
    | { readonly kind: 'described'; readonly description: CapabilityDescription }
    | UnknownCapability
    | {
        readonly kind: 'blocked'
        readonly message: string
        readonly data: Readonly<Record<string, unknown>>
      }
  >
  invoke(op: AgentOp, input: InvokeInput): Promise<InvokeOutcome>
  /** Of all capabilities there are, whoever may use them. */
  capabilityNames(): readonly string[]
  listing(entry: ListedCapability): CapabilityListing

  // An agent's own approvals and events
  getApprovalOutcome(op: AgentOp, input: { approval_id: string }): Promise<ApprovalOutcome>
  waitApprovalOutcome(
    op: AgentOp,
    input: { approval_id: string; timeout_ms: number },
  ): Promise<ApprovalOutcome>
  pollEvents(
    op: AgentOp,
    input: { after?: string; timeout_ms: number },
  ): Promise<readonly GatehouseEvent[]>
  /** Tells a connection each event of its agent: approvals resolved, tools changed, files changed. */
  subscribeEvents(agent: string, tell: Tell): Disposable

  // Agents
  createAgent(op: Op, input: CreateAgent): Promise<AgentWithToken>
  listAgents(op: Op): Promise<readonly Agent[]>
  showAgent(op: Op, input: { name: string }): Promise<AgentDetail>
  pauseAgent(op: Op, input: { name: string }): Promise<Agent>
  resumeAgent(op: Op, input: { name: string }): Promise<Agent>
  rotateAgent(op: Op, input: { name: string } & RotateAgent): Promise<AgentWithToken>
  revokeAgent(op: Op, input: { name: string }): Promise<Agent>
  /** A revoked agent comes back with a new token. */
  restoreAgent(op: Op, input: { name: string }): Promise<AgentWithToken>

  // Approvals, for people
  listApprovals(
    op: Op,
    input: { status?: ApprovalStatus; agent?: string; limit: number; offset: number },
  ): Promise<{ readonly approvals: readonly Approval[]; readonly total: number }>
  showApproval(op: Op, input: { approval_id: string }): Promise<Approval>
  decideApproval(
    op: Op,
    input: {
      approval_id: string
      decision: 'approve' | 'reject'
      digest?: string
      reason?: string
      remember?: Remember
      arguments?: Readonly<Record<string, unknown>>
    },
  ): Promise<{ readonly kind: 'decided' | 'not_pending'; readonly approval: Approval }>
  /** One decision on many, each recorded by itself. */
  decideApprovals(
    op: Op,
    input: {
      ids: readonly string[]
      decision: 'approve' | 'reject'
      reason?: string
      digests?: Readonly<Record<string, string>>
    },
  ): Promise<readonly DecideOutcome[]>
  /** Those that still let a call run; with `all` also those that ended. */
  listGrants(
    op: Op,
    input: { agent?: string; all: boolean; limit: number; offset: number },
  ): Promise<{ readonly grants: readonly Grant[]; readonly total: number }>
  revokeGrant(op: Op, input: { grant_id: string }): Promise<Grant>
  /** Calls the listener whenever an approval is asked for or changes. */
  subscribeApprovals(listener: (approval: Approval) => void): Disposable

  // The log
  queryAudit(op: Op, input: AuditFilter): Promise<AuditPage>
  showAuditEntry(op: Op, input: { id: string }): Promise<AuditEntry>
  verifyAudit(op: Op): Promise<Integrity>

  /** Must return what it takes to check one entry without the log. Raises `NotFound`. */
  proveAuditEntry(op: Op, input: { readonly id: string }): Promise<AuditProof>
  /** After a failure is understood: the log goes on from here, and an entry says so. */
  acknowledgeAudit(op: Op, input: { reason: string }): Promise<Integrity>

  /** The index by which entries are found is made anew from the log. */
  reindexAudit(op: Op): Promise<Integrity>
  exportAudit(op: Op): AsyncIterable<string>

  listNotifications(op: Op): Promise<readonly NotificationTarget[]>
  listFailedNotifications(op: Op, input: { name: string }): Promise<readonly FailedNotification[]>
  testNotification(op: Op, input: { name: string }): Promise<NotificationTest>
  retryNotifications(op: Op, input: { name: string }): Promise<RetriedNotifications>

  /** One encrypted file with everything that makes this node; ends with the operation's signal. */
  makeBackup(op: Op, input: MakeBackupInput): Promise<AsyncIterable<Uint8Array>>

  // Policy
  showPolicy(op: Op): Promise<{
    readonly version: string
    readonly files: readonly {
      readonly layer: string
      readonly file: string
      readonly agent: string | null
      readonly text: string
    }[]
    readonly problems: readonly PolicyProblem[]
    readonly rules: number
    readonly testsPassed: number
  }>
  testPolicy(
    op: Op,
    input: { agent: string; capability: string; arguments: Record<string, unknown>; at?: string },
  ): Promise<{ readonly decision: Decision; readonly steps: readonly TraceStep[] }>
  validatePolicy(
    op: Op,
    input: { text: string; file: string; agent?: string },
  ): Promise<PolicyCheck>
  savePolicy(
    op: Op,
    input: { text: string; agent?: string },
  ): Promise<{
    readonly version: string
    readonly problems: readonly PolicyProblem[]
    readonly previous: string | null
  }>

  // People and the service
  createUserToken(op: Op, input: CreateUserToken): Promise<CreatedUserToken>
  listUserTokens(op: Op): Promise<readonly UserToken[]>
  revokeUserToken(op: Op, input: { id: string }): Promise<UserToken>
  status(op: Op): Promise<SystemStatus>
  health(op: Op): Promise<Health>
  /** The same in a word, at once. */
  readiness(): HealthStatus
  /** Runs a small program in the sandbox, and says what holds. */
  probeSandbox(op: Op): Promise<SandboxReport>
  /** In the Prometheus text format. */
  renderMetrics(op: Op): Promise<string>

  // What happened, as it happens
  listActivity(
    op: Op,
    input: { agent?: string; limit: number; offset: number },
  ): Promise<ActivityPage>
  /** From the place `after`, or from now on; ends with the operation's signal. */
  followActivity(op: Op, input: { after?: string; agent?: string }): AsyncIterable<ActivityBatch>

  // Values of agents, and the shared ones under the agent `shared`
  listState(
    op: Op,
    input: { agent: string; prefix?: string; after?: string; limit: number },
  ): Promise<StateKeys>
  showState(op: Op, input: { agent: string; key: string }): Promise<StateValue>
  changeState(op: Op, input: { agent: string; key: string } & SetState): Promise<StateValue>
  deleteState(op: Op, input: { agent: string; key: string }): Promise<DeletedState>

  // Alerts
  listAlerts(
    op: Op,
    input: { status?: AlertStatus; limit: number; offset: number },
  ): Promise<{ readonly alerts: readonly Alert[]; readonly total: number }>
  acknowledgeAlert(op: Op, input: { alert_id: string }): Promise<Alert>

  // Calls that agents put off, and wakes
  listSchedules(
    op: Op,
    input: { agent?: string; limit: number; offset: number },
  ): Promise<{ readonly schedules: readonly Schedule[]; readonly total: number }>
  deleteSchedule(op: Op, input: { schedule_id: string }): Promise<Schedule>
  /** From anybody on this machine; it carries no authority. Resolves once the wake is stored. */
  wakeAgent(input: WakeInput): Promise<WakeVerdict>

  // Programs of agents
  /** Those that a call waits for first, then those in the background, the newest first. */
  listProcesses(
    op: Op,
    input: { agent?: string; state?: ProcessState; limit: number; offset: number },
  ): Promise<{ readonly processes: readonly Process[]; readonly total: number }>
  showProcess(op: Op, input: { process_id: string }): Promise<Process>
  /** Without an offset, its end. */
  readProcessLog(op: Op, input: LogRequest): Promise<ProcessLog>
  killProcess(op: Op, input: { process_id: string } & KillProcess): Promise<KilledProcess>

  // Services, their replicas, and the writes that wait for their time
  showProxy(op: Op): Promise<ProxyStatus>
  listServiceKinds(op: Op): Promise<readonly ServiceKind[]>
  /** Raises `ServiceConnectionFailed`, whose `recovery` has every check. */
  connectService(op: Op, input: ConnectService): Promise<ConnectedService>
  testService(op: Op, input: { name: string }): Promise<ServiceTest>
  disconnectService(op: Op, input: { name: string } & DisconnectService): Promise<ProxyService>
  syncService(op: Op, input: { name: string } & SyncService): Promise<ProxyService>
  /** `pending`: buffered and executing ones; `dead`: those that failed and wait for a person. */
  listWrites(
    op: Op,
    input: {
      status?: WriteFilterStatus
      agent?: string
      service?: string
      limit: number
      offset: number
    },
  ): Promise<{ readonly writes: readonly BufferedWrite[]; readonly total: number }>
  cancelWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  retryWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  discardWrite(op: Op, input: { write_id: string }): Promise<ChangedWrite>
  listRollbacks(
    op: Op,
    input: { service?: string; status?: RollbackStatus; limit: number; offset: number },
  ): Promise<{ readonly rollbacks: readonly RollbackPoint[]; readonly total: number }>
  previewRollback(op: Op, input: { rollback_id: string }): Promise<RollbackPreview>
  rollBack(op: Op, input: { rollback_id: string }): Promise<RollbackPoint>

  // Everything at once
  pauseAll(op: Op): Promise<PausedAgents>
  resumeAll(op: Op): Promise<PausedAgents>
}
