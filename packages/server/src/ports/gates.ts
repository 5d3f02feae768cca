import type {
  GatehouseEvent,
  Integrity,
  KilledProcess,
  KillProcess,
  LogMessage,
  Logs,
  Process,
  ProcessLog,
  ProcessState,
  RetentionStatus,
} from '@gatehouse/contract'
import type { LimitKey, LimitVerdict } from '../domain/sliding-window.ts'
import type { StoredApproval } from './approvals.ts'
import type { EngineTask } from './engine.ts'
import type { EmbeddedBy, GeneratedBy, UsableModel } from './inference.ts'
import type { MetricValues } from './metrics.ts'
import type { LogRequest, ProcessSample } from './processes.ts'
import type { ChangedKind } from './storage.ts'
import type { ChangedList, ToolCall } from './upstream.ts'

/** News that one gate process has for all others. */
export type GateNews =
  | { readonly kind: 'changed'; readonly kinds: readonly ChangedKind[] }
  | { readonly kind: 'event'; readonly event: GatehouseEvent }
  | { readonly kind: 'approval'; readonly approval: StoredApproval }
  | { readonly kind: 'vault unlocked'; readonly passphrase: string | null }
  | { readonly kind: 'list changed'; readonly change: ChangedList }

/** Facts about one gate process, for whoever speaks for all of them. */
export type GateFacts = {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** Why it is not well, each with the part that it is about. */
  readonly reasons: readonly string[]
  readonly sessions: number
  readonly processes: number
  /** Of its own log, and what its last verification found. */
  readonly entries: number
  readonly integrity: Integrity | null
}

type Noted = { readonly kind: 'noted'; readonly facts: Readonly<Record<string, unknown>> }

/** A call of a tool that another gate process makes for one of its agents. */
export type ForeignCall = {
  readonly call: ToolCall
  readonly agent: string
  readonly request_id: string
  readonly meta: Readonly<Record<string, unknown>> | null
  /** Null where nobody reads what the server writes to the log of its client. */
  readonly log_level: Logs['level'] | null
}

export type ToldOfCall =
  | Noted
  | {
      readonly kind: 'progress'
      readonly done: number
      readonly total: number | undefined
      readonly message: string | undefined
    }
  | { readonly kind: 'log'; readonly message: LogMessage }
  /** Whether a person is being asked, which does not count towards the time of the call. */
  | { readonly kind: 'asking'; readonly asking: boolean }

/** The use of a model that another gate process makes for one of its agents. */
export type ForeignUse = {
  readonly who: string
  readonly model: string | undefined
  readonly work:
    | { readonly kind: 'generate'; readonly task: EngineTask }
    | { readonly kind: 'embed'; readonly inputs: readonly string[] }
}

/** `text`: what has come since the last time. */
export type ToldOfUse = Noted | { readonly kind: 'text'; readonly text: string }

/**
 * Questions of one gate process to another, with what is asked and what is answered. With `told`: work that takes as long
 * as it takes, and what is told of it meanwhile.
 */
export type GateQuestions = {
  'call server': {
    readonly given: ForeignCall
    readonly told: ToldOfCall
    readonly answer: Record<string, unknown>
  }
  /** Ends when the server tells of no more changes. */
  'watch resource': {
    readonly given: { readonly upstream: string; readonly agent: string; readonly uri: string }
    readonly told: 'watching' | 'changed'
    readonly answer: null
  }
  /** Programs there that somebody waits for: these are in no store. */
  'waited programs': {
    readonly given: { readonly agent?: string; readonly state?: ProcessState }
    readonly answer: readonly Process[]
  }
  /** About one program; null where it is none of that process. */
  'show program': { readonly given: string; readonly answer: Process | null }
  'sample program': { readonly given: string; readonly answer: ProcessSample | null }
  'program output': { readonly given: LogRequest; readonly answer: ProcessLog | null }
  'end program': {
    readonly given: { readonly process_id: string; readonly how: KillProcess; readonly by: string }
    readonly answer: KilledProcess | null
  }
  models: { readonly given: null; readonly answer: readonly UsableModel[] }
  'use model': {
    readonly given: ForeignUse
    readonly told: ToldOfUse
    readonly answer: GeneratedBy | EmbeddedBy
  }
  /** Counts a use of limits whose home is there, and stores it. */
  take: { readonly given: readonly LimitKey[]; readonly answer: LimitVerdict }
  used: { readonly given: LimitKey; readonly answer: number }
  facts: { readonly given: null; readonly answer: GateFacts }
  /** Metrics of that process alone. */
  metrics: { readonly given: null; readonly answer: MetricValues }
  /** Verifies its log. */
  'verify log': { readonly given: null; readonly answer: Integrity }
  /** Signs a checkpoint over all entries of its log. */
  'sign log': { readonly given: null; readonly answer: null }
  /** Takes its log as it is, where something is wrong with it. */
  'acknowledge log': {
    readonly given: { readonly reason: string; readonly actor: string; readonly request_id: string }
    readonly answer: Integrity
  }
  /** How long entries of its log stay; with who asked for it, what is due and may go is removed first. */
  retention: {
    readonly given: { readonly actor: string; readonly request_id: string } | null
    readonly answer: RetentionStatus
  }
  /** Copies its log into a folder. */
  'copy log': { readonly given: string; readonly answer: null }
  /** The state of the vault, with the passphrase where it is open by one: for a process that starts later. */
  vault: {
    readonly given: null
    readonly answer: { readonly locked: boolean; readonly passphrase: string | null }
  }
  /** Locks the vault, and uses no secret from then on. */
  'lock vault': { readonly given: null; readonly answer: null }
  /** Whether a call of an agent runs there; none that its record forbids begins after that. */
  'call runs': { readonly given: string; readonly answer: boolean }
  /** Reads the files of the policy, and decides by them from then on. */
  'read policy': { readonly given: null; readonly answer: null }
}

export type GateQuestion = keyof GateQuestions

export type ToldOf<Q extends GateQuestion> = GateQuestions[Q] extends { readonly told: infer Told }
  ? Told
  : never

/** How whoever asks follows the work that is done for it. */
export type Following<Q extends GateQuestion> = {
  /** Aborting ends the work there, too. */
  readonly signal: AbortSignal
  readonly told: (told: ToldOf<Q>) => void
}

/** The other side of the same. */
export type Asker<Q extends GateQuestion> = {
  /** Aborts when whoever asked wants it no more, or is gone. */
  readonly signal: AbortSignal
  readonly tell: (told: ToldOf<Q>) => void
}

/**
 * The gate processes of a node, as one of them knows the others. The first one, 0, also serves people, keeps schedules,
 * services and models, and starts the others.
 */
export interface Gates {
  readonly index: number
  readonly count: number
  /** All but this one. */
  readonly others: readonly number[]

  /** Must name the one where the limits of an agent are counted, which is where its connections are served. */
  homeOf(agent: string): number

  /** Whether one of the others serves agents now, as far as the first one knows, which alone looks after them. */
  serves(index: number): boolean

  /** Must tell the first one when another one begins to serve, and when it ends. */
  onServing(listener: (index: number, serves: boolean) => void): void

  /** Must tell all others that are there. One that starts later reads the store. */
  tell(news: GateNews): void

  onNews<K extends GateNews['kind']>(
    kind: K,
    listener: (news: Extract<GateNews, { readonly kind: K }>) => void,
  ): Disposable

  /**
   * Must raise what the other raised, and `StorageUnavailable` where it is gone or, unless the work is followed, does not
   * answer in time.
   */
  ask<Q extends GateQuestion>(
    index: number,
    question: Q,
    given: GateQuestions[Q]['given'],
    following?: Following<Q>,
  ): Promise<GateQuestions[Q]['answer']>

  /** Must answer questions of others by this from now on. */
  answer<Q extends GateQuestion>(
    question: Q,
    by: (given: GateQuestions[Q]['given'], asker: Asker<Q>) => Promise<GateQuestions[Q]['answer']>,
  ): void
}
