import type {
  ApprovalOutcome,
  ApprovalStatus,
  CapabilityDescription,
  Effect,
  ErrorType,
  Preview,
  Recovery,
  RuleRef,
} from '@gatehouse/contract'
import type { z } from 'zod'
import type { Clock } from './clock.ts'
import type { Files } from './files.ts'
import type { Ids } from './ids.ts'

/** What a capability may touch. Everything else is out of its reach. */
export interface CapabilityContext {
  readonly agent: {
    readonly name: string
    readonly purpose: string
    readonly status: string
    readonly workspace: string
  }
  readonly session_id: string | null
  readonly request_id: string
  /** Aborts when the caller cancels, the deadline passes or the service stops. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly ids: Ids
  readonly files: Files
  readonly self: AgentSelf
  readonly approvals: AgentApprovals
  readonly system: SystemFacts
  readonly watches: Watches
  /** Tells the caller how far a long call is, where its transport can. */
  progress(done: number, total?: number, message?: string): void
}

/** What an agent may learn of itself. */
export interface AgentSelf {
  whoami(): Promise<Record<string, unknown>>
  capabilities(category?: string): Promise<Record<string, unknown>>
  session(): Promise<Record<string, unknown>>
  policy(): Promise<Record<string, unknown>>
}

/** An agent's own approvals; those of others do not exist for it. */
export interface AgentApprovals {
  get(id: string): Promise<ApprovalOutcome>
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<ApprovalOutcome>
  list(status: ApprovalStatus | undefined, limit: number): Promise<Record<string, unknown>>
  cancel(id: string): Promise<ApprovalOutcome>
}

export interface SystemFacts {
  info(): Promise<Record<string, unknown>>
  health(): Promise<Record<string, unknown>>
  metrics(): Promise<Record<string, unknown>>
}

/** Watches outlive the call; their events reach the agent by push and by poll. */
export interface Watches {
  add(watch: {
    readonly path: string
    readonly recursive: boolean
    readonly pattern?: string
    readonly events?: readonly string[]
  }): Promise<string>
  remove(watchId: string): Promise<void>
}

/** A capability: frozen data and one `run`. Listings, schemas, checks, docs and policy all read it. */
export interface Capability {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly title: string
  readonly purpose: string
  readonly when_to_use: string
  readonly inputs: z.ZodObject
  readonly outputs: z.ZodObject
  /** Default tier of a new install. */
  readonly tier: 'autonomous' | 'approval_required'
  readonly notify: boolean
  readonly effect: Effect
  /** A standing grant never covers it, and deciding it needs the digest. */
  readonly critical: boolean
  readonly side_effects: readonly { readonly what: string; readonly reversible: boolean }[]
  readonly common_patterns: readonly {
    readonly title: string
    readonly arguments: Readonly<Record<string, unknown>>
  }[]
  readonly errors: readonly ErrorType[]
  /** Names of top-level arguments that are stored as a keyed hash. */
  readonly redact: readonly string[]
  /** Names of top-level arguments that are paths (or lists of them): policy sees where they lead. */
  readonly paths: readonly string[]
  /** Whether it waits (long poll): such calls have their own, larger cap. */
  readonly waits: boolean
  readonly timeout_seconds: number
  /** SHA-256 of everything about the definition that an approver relies on. */
  readonly definition_hash: string
  /** JSON Schema of `inputs`, closed. */
  readonly input_schema: Readonly<Record<string, unknown>>
  readonly output_schema: Readonly<Record<string, unknown>>
  /** Listing without the tier, made once. */
  readonly description: Omit<CapabilityDescription, 'permission_tier'>
  /** Its natural text, where it has one; otherwise its data as JSON. */
  readonly text?: (data: Readonly<Record<string, unknown>>) => string
  readonly preview?: (args: never, ctx: PreviewContext) => Preview | Promise<Preview>
  /** What the arguments resolve to now; bound by the digest and compared again before execution. */
  readonly resolve?: (
    args: never,
    ctx: PreviewContext,
  ) => Promise<Readonly<Record<string, unknown>>>
  readonly run: (ctx: CapabilityContext, args: never) => Promise<Record<string, unknown>>
}

export type PreviewContext = { readonly files: Files; readonly signal: AbortSignal }

/** The capabilities there are. */
export interface CapabilityRegistry {
  /** Must look up by exact name; `__proto__` and the like are unknown names. */
  find(name: string): Capability | null

  /** Must return all, by name. */
  list(): readonly Capability[]

  /** Must name up to three known names that look like this one. */
  similar(name: string): readonly string[]
}

export type { ErrorType, Recovery, RuleRef }
