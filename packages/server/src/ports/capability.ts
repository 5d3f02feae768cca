import type {
  Alert,
  AlertSeverity,
  AlertStatus,
  ApprovalOutcome,
  ApprovalStatus,
  CapabilityDescription,
  Effect,
  ErrorType,
  Logs,
  Preview,
  Schedule,
  ScheduledRun,
  ScheduleStatus,
} from '@gatehouse/contract'
import type { Explained } from '@gatehouse/contract/explain-issue'
import type { MirroredArgument } from '@gatehouse/contract/mirrored-arguments'
import type { Awaitable } from '../domain/awaitable.ts'
import type { AgentServices, AgentWrites } from './agent-services.ts'
import type { Clock } from './clock.ts'
import type { Files } from './files.ts'
import type { AgentGit } from './git.ts'
import type { Ids } from './ids.ts'
import type { AgentInference } from './inference.ts'
import type { AgentNetwork } from './network.ts'
import type { AgentProcesses } from './processes.ts'
import type { SecretListing } from './secrets.ts'

/** Reach of a capability. Everything else is out of its reach. */
export interface CapabilityContext {
  readonly agent: {
    readonly name: string
    readonly purpose: string
    readonly status: string
    readonly workspace: string
  }
  readonly session_id: string | null
  readonly request_id: string
  /** Members that the client put into `_meta` of a call that policy alone let through, as they were sent; null otherwise. */
  readonly meta: Readonly<Record<string, unknown>> | null
  /** Aborts when the caller cancels, the deadline passes or the service stops. */
  readonly signal: AbortSignal
  /** Runs what waits for a person: the deadline does not pass meanwhile, and begins anew after it. */
  whileAsking<T>(ask: () => Promise<T>): Promise<T>
  readonly clock: Clock
  readonly ids: Ids
  readonly files: Files
  readonly git: AgentGit
  readonly processes: AgentProcesses
  /**
   * Result of `resolve` when a person approved this call, compared again just before it runs; null for
   * a call that nobody had to approve. Acting on this, not on a new look, is what makes it what was shown.
   */
  readonly resolved: Readonly<Record<string, unknown>> | null
  readonly self: AgentSelf
  readonly approvals: AgentApprovals
  readonly system: SystemFacts
  readonly watches: Watches
  readonly schedules: AgentSchedules
  readonly messages: AgentMessages
  /** The agent's own values; those that all agents share; those of this session (raises `NoSession`). */
  readonly state: StateArea
  readonly shared: StateArea
  readonly scratch: StateArea
  readonly alerts: AgentAlerts
  /** Mail, calendars, … as an operator connected them. */
  readonly services: AgentServices
  /** The agent's own buffered writes. */
  readonly writes: AgentWrites
  readonly secrets: AgentSecrets
  readonly network: AgentNetwork
  /** Models on this machine. */
  readonly inference: AgentInference
  /** Adds facts to the `detail` of the audit entry that closes this call, such as the sandbox it ran in. */
  note(facts: Readonly<Record<string, unknown>>): void
  /** Where the log of the caller's client is; null where it reads none. */
  readonly logs: Logs | null
  /** Tells the caller how far a long call is, where its transport can. */
  progress(done: number, total?: number, message?: string): void
}

/** Facts that an agent may learn about itself. */
export interface AgentSelf {
  whoami(): Promise<Record<string, unknown>>
  /** Raises `InvalidArguments` for a name that it may not use or that nothing has. */
  capabilities(filter: {
    readonly category?: string | undefined
    readonly name?: string | undefined
  }): Promise<Record<string, unknown>>
  /** Tools it may use in which words of the query occur, the best first; `total` counts all. */
  searchTools(query: string, limit: number): Promise<FoundTools>
  /** Everything about one of them. Raises `InvalidArguments` for a name that it may not use. */
  describeTool(name: string): Promise<{ readonly definition: Record<string, unknown> }>
  session(): Promise<Record<string, unknown>>
  policy(): Promise<Record<string, unknown>>
  /** Changes since the last briefing, or since an ISO 8601 time; asking moves the starting point. */
  briefing(since?: string): Promise<Briefing>
}

export type FoundTools = {
  readonly tools: {
    readonly name: string
    readonly purpose: string
    readonly permission_tier: string
  }[]
  readonly total: number
}

export type Briefing = {
  readonly since: string
  readonly until: string
  readonly approvals: {
    readonly decided: readonly {
      readonly approval_id: string
      readonly capability: string
      readonly status: ApprovalStatus
      readonly decided_at: string
      readonly reason: string | null
      readonly execution: string
    }[]
    readonly pending: number
  }
  readonly messages: { readonly waiting: number; readonly from: readonly string[] }
  readonly wakes: readonly {
    readonly wake_id: string
    readonly reason: string | null
    readonly data: Readonly<Record<string, unknown>> | null
    readonly count: number
    readonly woken_at: string
  }[]
  readonly policy: { readonly version: string; readonly changed: boolean }
  readonly shared_keys: readonly {
    readonly key: string
    readonly version: number
    readonly updated_by: string
    readonly updated_at: string
  }[]
}

/** A call to be made later: exactly one of `schedule`, `run_at` and `delay_seconds` says when. */
export type NewSchedule = {
  readonly capability: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly schedule?: string | undefined
  readonly run_at?: string | undefined
  readonly delay_seconds?: number | undefined
  readonly time_zone: string
  readonly description: string
}

/** An agent's own schedules; those of others do not exist for it. */
export interface AgentSchedules {
  create(
    schedule: NewSchedule,
  ): Promise<{ readonly schedule_id: string; readonly next_run_at: string }>
  list(filter: {
    readonly status?: ScheduleStatus | undefined
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly schedules: readonly Schedule[]; readonly total: number }>
  history(
    id: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{
    readonly schedule_id: string
    readonly status: ScheduleStatus
    readonly runs: readonly ScheduledRun[]
    readonly total: number
  }>
  delete(id: string): Promise<{ readonly schedule_id: string; readonly deleted: boolean }>
  /** Checks what `create` would, and tells when it would first run; changes nothing. */
  plan(schedule: NewSchedule): Promise<{ readonly next_run_at: string }>
  /** Raises `ScheduleNotFound`. */
  find(id: string): Promise<Schedule>
}

export type NewMessage = {
  readonly message: string | Readonly<Record<string, unknown>>
  readonly priority: 'low' | 'normal' | 'high'
  readonly ttl_seconds: number
}

export type ReceivedMessage = {
  readonly message_id: string
  readonly from: string
  readonly channel: string | null
  readonly priority: NewMessage['priority']
  readonly message: NewMessage['message']
  readonly sent_at: string
  readonly expires_at: string
}

/** Messages between agents, and those that wait for this one. The last three change nothing. */
export interface AgentMessages {
  send(
    to: string,
    message: NewMessage,
  ): Promise<{ readonly message_id: string; readonly status: 'queued' }>
  broadcast(
    filter: {
      readonly channel?: string | undefined
      readonly agents?: readonly string[] | undefined
    },
    message: NewMessage,
  ): Promise<{
    readonly message_id: string | null
    readonly recipients: number
    readonly queued: number
    readonly full: number
  }>
  subscribe(
    channel: string,
  ): Promise<{ readonly subscription_id: string; readonly channel: string }>
  unsubscribe(
    subscriptionId: string,
  ): Promise<{ readonly subscription_id: string; readonly removed: boolean }>
  receive(filter: {
    readonly limit: number
    readonly channel?: string | undefined
    readonly acknowledge: boolean
  }): Promise<{ readonly messages: readonly ReceivedMessage[]; readonly remaining: number }>
  /** Agents that would get a broadcast now, and those whose mailbox is full. Raises `QuotaExceeded`. */
  recipients(filter: {
    readonly channel?: string | undefined
    readonly agents?: readonly string[] | undefined
  }): Promise<{ readonly recipients: readonly string[]; readonly full: readonly string[] }>
  /** Messages that `receive` would return now. */
  peek(filter: {
    readonly limit: number
    readonly channel?: string | undefined
  }): Promise<{ readonly messages: readonly ReceivedMessage[]; readonly total: number }>
  /** The channel of a subscription. Raises `SubscriptionNotFound`. */
  channelOf(subscriptionId: string): Promise<string>
}

/** An agent's own approvals; those of others do not exist for it. */
export interface AgentApprovals {
  get(id: string): Promise<ApprovalOutcome>
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<ApprovalOutcome>
  list(status: ApprovalStatus | undefined, limit: number): Promise<Record<string, unknown>>
  cancel(id: string): Promise<ApprovalOutcome>
  /** Subject of a request; unlike `get`, no delivery. Raises `ApprovalNotFound`. */
  find(id: string): Promise<{
    readonly capability: string
    readonly arguments: Readonly<Record<string, unknown>>
    readonly status: ApprovalStatus
    readonly requested_at: string
  }>
}

export interface SystemFacts {
  info(): Promise<Record<string, unknown>>
  health(): Promise<Record<string, unknown>>
  metrics(): Promise<Record<string, unknown>>
}

/** A value as an agent reads it. Times of expiry are told in wall time. */
export type StateFound = {
  readonly key: string
  readonly value: unknown
  readonly version: number
  readonly updated_at: string
  readonly updated_by: string
  readonly expires_at: string | null
}

export type StateWrite = {
  readonly key: string
  readonly value: unknown
  /** 0: the key must be new. */
  readonly expected_version?: number | undefined
  readonly ttl_seconds?: number | undefined
}

/** One area of values. Raises `InvalidKey`, `StateNotFound`, `VersionConflict`, `ValueTooLarge`, quotas. */
export interface StateArea {
  get(key: string): Promise<StateFound>
  list(input: {
    readonly prefix: string
    readonly cursor?: string | undefined
    readonly limit: number
  }): Promise<Record<string, unknown>>
  query(input: {
    readonly prefix: string
    readonly where: Readonly<Record<string, unknown>>
    readonly cursor?: string | undefined
    readonly limit: number
  }): Promise<Record<string, unknown>>
  history(key: string, limit: number): Promise<Record<string, unknown>>
  set(input: StateWrite): Promise<Record<string, unknown>>
  delete(key: string, expectedVersion?: number): Promise<Record<string, unknown>>
  /** Waits until the key is at another version than this, or than now for null; 0 where nothing is there. */
  watch(
    key: string,
    afterVersion: number | null,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>
}

/** Alerts from an agent to people; it sees its own alerts only. */
export interface AgentAlerts {
  send(alert: {
    readonly message: string
    readonly severity: AlertSeverity
    readonly context: Readonly<Record<string, unknown>>
  }): Promise<Record<string, unknown>>
  list(status: AlertStatus | undefined, limit: number): Promise<Record<string, unknown>>
  acknowledge(alertId: string): Promise<Record<string, unknown>>
  /** Raises `AlertNotFound`. */
  find(alertId: string): Promise<Alert>
}

/** Secrets in the name of this call: where their scope lets this agent and this capability use them. */
export interface AgentSecrets {
  list(): Promise<readonly SecretListing[]>

  /** See `Secrets.use`; `host` is where the value is sent to, null where it leaves for none. */
  use<T>(name: string, host: string | null, work: (value: string) => Promise<T>): Promise<T>

  /** Scrubs values that come back from where a secret went. Results are scrubbed once more as a whole. */
  scrub<T>(value: T): T
  scrubStream(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>

  /** Tells people. Raises `SecretNotAllowed`, `QuotaExceeded`. */
  requestRotation(
    name: string,
    reason: string,
  ): Promise<{ readonly secret_name: string; readonly alert_id: string }>
}

/** Watches outlive the call; their events reach the agent by push and by poll. */
export interface Watches {
  add(watch: {
    readonly path: string
    readonly recursive: boolean
    readonly pattern?: string
    readonly events?: readonly string[]
  }): Promise<string>
  /** Tells how many changes were withheld, as policy does not let the agent learn of them. */
  remove(watchId: string): Promise<{ readonly withheld: number }>
}

/** A capability: frozen data and one `run`. Listings, schemas, checks, docs and policy all read it. */
export interface Capability {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly title: string
  readonly purpose: string
  readonly when_to_use: string
  /**
   * `client`: the agent's own program does it, and a run here only says that it may. A hook asks for it; no
   * agent is offered it or can call it.
   */
  readonly performer: 'service' | 'client'
  /** `upstream`: of an MCP server behind the gate, whose texts, schemas and results are its own. */
  readonly origin: 'own' | 'upstream'
  /** Of an upstream server: the method of MCP that it stands for, where it is no tool. */
  readonly method?: string
  /** Top-level arguments, in the order of their definition. */
  readonly argument_names: readonly string[]
  /** Arguments that `parse` fills in where a call leaves them out. */
  readonly argument_defaults: Readonly<Record<string, unknown>>
  /** Must check arguments against the closed schema and fill the defaults, whatever it is given. */
  readonly parse: (given: unknown) => ParsedArguments
  /** Default tier of a new install. */
  readonly tier: 'autonomous' | 'approval_required'
  readonly notify: boolean
  readonly effect: Effect
  /** Open where a call may reach others than this machine and its own models. */
  readonly reach: 'closed' | 'open'
  /** A standing grant never covers it, and deciding it needs the digest. */
  readonly critical: boolean
  readonly side_effects: readonly { readonly what: string; readonly reversible: boolean }[]
  /** Whether a call may delete or replace something, or cause what nobody can take back. */
  readonly destructive: boolean
  readonly common_patterns: readonly {
    readonly title: string
    readonly arguments: Readonly<Record<string, unknown>>
  }[]
  readonly errors: readonly ErrorType[]
  /** A standing grant for the same arguments holds only while `resolve` finds the same, too. */
  readonly grants_bind: boolean
  /** Names of top-level arguments that are stored as a keyed hash. */
  readonly redact: readonly string[]
  /** Names of top-level arguments that are paths (or lists of them): policy sees where they lead. */
  readonly paths: readonly string[]
  /** Of these, the ones that name a thing in its folder: a last link is not followed. */
  readonly entries: readonly string[]
  /** Whether it waits (long poll): such calls have their own, larger cap. */
  readonly waits: boolean
  readonly timeout_seconds: number
  /** A larger result is refused. That much memory is kept for each run until its result is known. */
  readonly result_bytes_max: number
  /** Where the arguments ask for less: about how large the result can be. */
  readonly result_bytes?: (args: never) => number
  /** Where the arguments say how long a call may take, in seconds; in place of `timeout_seconds`. */
  readonly deadline?: (args: never) => number
  /** SHA-256 of everything about the definition that an approver relies on. */
  readonly definition_hash: string
  /** JSON Schema of `inputs`, closed. */
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly output_schema: Readonly<Record<string, unknown>>
  /** Arguments that clients of MCP over HTTP say in a header, too: their calls are refused where the two differ. */
  readonly mirrored?: readonly MirroredArgument[]
  /** Listing without the tier, made once. */
  readonly description: Omit<CapabilityDescription, 'permission_tier'>
  /** Natural text of the result, where there is one; otherwise its data as JSON. */
  readonly text?: (data: Readonly<Record<string, unknown>>) => string
  readonly preview?: (args: never, ctx: PreviewContext) => Preview | Promise<Preview>
  /** How people or the agent undo such a call once it ran, in a sentence; null where it cannot be undone. */
  readonly undo?: (args: never) => string | null
  /** Further calls that policy must allow beside the call itself: the strictest answer holds. */
  readonly stands_for?: (args: never) => StandsFor
  /** Facts that the arguments resolve to now; bound by the digest and compared again before execution. */
  readonly resolve?: (
    args: never,
    ctx: PreviewContext,
  ) => Promise<Readonly<Record<string, unknown>>>
  /** At once where nothing has to be waited for: such a call takes no promise. */
  readonly run: (ctx: CapabilityContext, args: never) => Awaitable<Record<string, unknown>>
}

/** Other calls that come to the same as one that a client makes by itself. */
export type StandsFor = {
  readonly calls: readonly {
    readonly capability: string
    readonly arguments: Readonly<Record<string, unknown>>
  }[]
  /** Why a person has to decide even where policy allows it all; null where none has to. */
  readonly held: string | null
}

export type ParsedArguments =
  | { readonly kind: 'valid'; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'invalid'; readonly problems: readonly Explained[] }

/** Context of a preview: a call that has not run. Nothing in it changes anything. */
export type PreviewContext = {
  readonly files: Files
  /** Contents of the replica: the recipients of an answer, the title of a message. */
  readonly services: AgentServices
  readonly git: AgentGit
  readonly processes: Pick<AgentProcesses, 'resolve' | 'monitor'>
  readonly state: Pick<StateArea, 'get'>
  readonly shared: Pick<StateArea, 'get'>
  readonly messages: Pick<AgentMessages, 'recipients' | 'peek' | 'channelOf'>
  readonly schedules: Pick<AgentSchedules, 'plan' | 'find'>
  readonly approvals: Pick<AgentApprovals, 'find'>
  readonly alerts: Pick<AgentAlerts, 'find'>
  readonly writes: Pick<AgentWrites, 'find' | 'planRollback'>
  readonly secrets: Pick<AgentSecrets, 'list'>
  readonly signal: AbortSignal
}

/** The capabilities there are, which come and go while the service runs. */
export interface CapabilityRegistry {
  /** Must look up by exact name; `__proto__` and the like are unknown names. */
  find(name: string): Capability | null

  /** Must return all, by name. */
  list(): readonly Capability[]

  /** Must return their names, in the same order; the same array until something changes. */
  names(): readonly string[]

  /** Must name up to three known names that look like this one. */
  similar(name: string): readonly string[]

  /** Must call the listener after the capabilities of a group were replaced, with the new ones in place. */
  onChange(listener: () => void): Disposable
}

/** The registry, for those whose capabilities come and go. */
export interface ChangingRegistry extends CapabilityRegistry {
  /**
   * Must put these in place of all that the group has; none ends it. Raises `Conflict` where one is not of
   * the group, or where two share a name, naming both; nothing is changed then.
   */
  replaceGroup(group: string, capabilities: readonly Capability[]): void
}
