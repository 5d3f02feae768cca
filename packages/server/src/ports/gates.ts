import type { GatehouseEvent, Integrity, RetentionStatus } from '@gatehouse/contract'
import type { LimitKey, LimitVerdict } from '../domain/sliding-window.ts'
import type { StoredApproval } from './approvals.ts'
import type { MetricValues } from './metrics.ts'
import type { ChangedKind } from './storage.ts'

/** News that one gate process has for all others. */
export type GateNews =
  | { readonly kind: 'changed'; readonly kinds: readonly ChangedKind[] }
  | { readonly kind: 'event'; readonly event: GatehouseEvent }
  | { readonly kind: 'approval'; readonly approval: StoredApproval }
  | { readonly kind: 'vault unlocked'; readonly passphrase: string | null }

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

/** Questions of one gate process to another, with what is asked and what is answered. */
export type GateQuestions = {
  /** Counts a use of limits whose home is there, and stores it. */
  take: { readonly given: readonly LimitKey[]; readonly answer: LimitVerdict }
  used: { readonly given: LimitKey; readonly answer: number }
  facts: { readonly given: null; readonly answer: GateFacts }
  /** Metrics of that process alone. */
  metrics: { readonly given: null; readonly answer: MetricValues }
  /** Verifies its log. */
  'verify log': { readonly given: null; readonly answer: Integrity }
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
  /** Reads the files of the policy, and decides by them from then on. */
  'read policy': { readonly given: null; readonly answer: null }
}

export type GateQuestion = keyof GateQuestions

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

  /** Must tell all others that are there. One that starts later reads the store. */
  tell(news: GateNews): void

  onNews<K extends GateNews['kind']>(
    kind: K,
    listener: (news: Extract<GateNews, { readonly kind: K }>) => void,
  ): Disposable

  /** Must raise what the other raised, and `StorageUnavailable` where it is gone or does not answer. */
  ask<Q extends GateQuestion>(
    index: number,
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<GateQuestions[Q]['answer']>

  /** Must answer questions of others by this from now on. */
  answer<Q extends GateQuestion>(
    question: Q,
    by: (given: GateQuestions[Q]['given']) => Promise<GateQuestions[Q]['answer']>,
  ): void
}
