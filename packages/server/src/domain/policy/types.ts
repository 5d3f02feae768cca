import type { PolicyLayer, PolicyTier, RuleRef } from '@gatehouse/contract'

/** Agent as conditions see it (`agent`). */
export type PolicyAgent = {
  readonly name: string
  readonly purpose: string
  readonly status: string
}

/** The session, as conditions see it (`session`); the fields are empty without one. */
export type PolicySession = {
  readonly id: string
  readonly transport: string
  readonly client: string
}

/** Everything a decision depends on. `nowMs` is wall time. */
export type PolicyQuestion = {
  readonly capability: string
  readonly agent: PolicyAgent
  readonly session: PolicySession
  readonly args: Readonly<Record<string, unknown>>
  readonly nowMs: number
  /**
   * The same question with every path argument told in one form: where it really leads, whatever was
   * written. Absent where there are no folders to look at, as for the tests in a policy file.
   */
  readonly as?: (form: PathForm) => PolicyQuestion
  /** In a question that was told in one form: the arguments as they were written. */
  readonly written?: Readonly<Record<string, unknown>>
  /**
   * Must return false only where the argument of that name is a path and nothing it could lead to begins so,
   * whatever is on the disk. Absent where that is not known without a look.
   */
  readonly canLeadTo?: (name: string, beginning: string) => boolean
}

/**
 * `absolute`: all paths from the root. `relative`: those in the workspace relative to it, others absolute.
 * A condition that speaks of an absolute path sees the first, any other the second.
 */
export type PathForm = 'absolute' | 'relative'

/** A condition that has been checked at load. May throw on a value that is not there. */
export interface Condition {
  readonly source: string
  /** Whether it looks at the arguments; one that does not can be evaluated for a listing. */
  readonly readsArguments: boolean
  /** Names of the arguments that it reads; null or absent where it could read any. */
  readonly reads?: ReadonlySet<string> | null
  /** Texts that are written out in it, such as the beginnings of paths. */
  readonly texts?: readonly string[]
  evaluate(question: PolicyQuestion): boolean
  /** Why `evaluate` throws for this question, in words, for a trace. Null when it does not. */
  explain?(question: PolicyQuestion): string | null
}

export type LayerRule = {
  readonly match: string
  readonly tier: PolicyTier
  readonly notify: boolean
  readonly floor: boolean
  /** Present on a rule that asks a person each time, whatever was remembered. */
  readonly critical?: true
  readonly reason: string | null
  readonly when: Condition | null
  /** Of a rule that matches by effect, which is several of these: the condition that stands in the file. */
  readonly written_when?: string | null
  /** `host:port` patterns that a program may reach; absent where the rule names none. */
  readonly network?: readonly string[]
  readonly ref: RuleRef
}

export type LayerLimit = {
  readonly match: string
  readonly limit: number
  readonly window: string
  readonly window_ms: number
  readonly ref: RuleRef
}

/** The tools that a file leaves to an agent: all others are out of its listings, and are refused. */
export type LayerTools = {
  readonly patterns: readonly string[]
  /** Where the list stands. */
  readonly ref: RuleRef
}

/** One file, read and checked. `agent` is set for a file of the agent layer. */
export type Layer = {
  readonly layer: PolicyLayer
  readonly file: string
  readonly agent: string | null
  readonly rules: readonly LayerRule[]
  readonly limits: readonly LayerLimit[]
  /** Absent where it leaves all. */
  readonly tools?: LayerTools
}

type Basis = {
  /** The rule that decided; null only when no layer says anything, which denies. */
  readonly rule: RuleRef | null
  readonly reason: string | null
  readonly notify: boolean
  /** Each call is decided on by itself, by the digest that the person was shown. */
  readonly critical?: true
  /** Hosts that a program started by the call may reach; absent = none. */
  readonly network?: readonly string[]
}

export type Decision =
  | ({ readonly kind: 'allow' } & Basis)
  | ({ readonly kind: 'ask' } & Basis)
  | ({ readonly kind: 'deny' } & Basis)

/** Tier in a listing: the one to expect, or that no call could pass. */
export type ListedTier = 'autonomous' | 'approval_required' | 'blocked'

/** One step of a decision, for `policy test` and the simulator. */
export type TraceStep = {
  readonly rule: RuleRef
  readonly outcome:
    | 'matched'
    | 'condition_false'
    | 'condition_error'
    | 'shadowed'
    | 'floor'
    | 'decided'
  readonly detail?: string
}

/** A policy made ready to decide. Immutable; one for each version. */
export interface CompiledPolicy {
  /** `sha256:<hex>` of the files it was made from. */
  readonly version: string

  /**
   * Pure: the same question always gets the same answer. By the rules alone, as what a call does by the way is asked
   * about, too: for a tool that an agent calls itself see `decideTool`.
   */
  decide(question: PolicyQuestion): Decision

  /** The same decision with every rule that was looked at. */
  trace(question: PolicyQuestion): {
    readonly decision: Decision
    readonly steps: readonly TraceStep[]
  }

  /** Whether an answer about calls of this agent could hang on the value of one of these arguments. */
  dependsOn(agent: string, capability: string, names: readonly string[]): boolean

  /** The list of tools that leaves a capability out for this agent; null where none does. */
  leftOutBy(agent: string, capability: string): LayerTools | null

  /** Listing for an agent: a capability is listed when no list leaves it out and some call to it could pass. */
  listed(question: Omit<PolicyQuestion, 'args'>): ListedTier

  /**
   * The limits that a call of this agent counts under. Of limits with the same pattern and window only
   * the one of the lowest number holds; every limit of every layer holds otherwise. A default (layer
   * `system`) gives way to a limit of a lower layer with the same pattern unless it is a floor.
   */
  limitsFor(agent: string, capability: string): readonly LayerLimit[]
}
