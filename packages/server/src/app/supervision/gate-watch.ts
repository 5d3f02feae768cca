import { GatehouseError, type Integrity, type RetentionStatus } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'
import type { GateFacts, GateQuestions, Gates } from '../../ports/gates.ts'
import type { MetricValues } from '../../ports/metrics.ts'
import type { PartHealth } from '../call/part.ts'

const answerMs = 2_000

const unknown = (reason: string): GateFacts => ({
  status: 'unhealthy',
  reasons: [reason],
  sessions: 0,
  processes: 0,
  entries: 0,
  integrity: null,
})

const worst = (own: Integrity, others: readonly Integrity[]): Integrity =>
  own.integrity === 'failed' ? own : (others.find(({ integrity }) => integrity === 'failed') ?? own)

const oldestOf = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b < a) ? b : a

/** Logs of two processes as one. What was removed last from either is told. */
const together = (a: RetentionStatus, b: RetentionStatus): RetentionStatus => {
  const [one, other] = [a.removed, b.removed]
  const last = !one || (other && other.removed_at > one.removed_at) ? other : one
  return {
    ...a,
    max_bytes: a.max_bytes === null || b.max_bytes === null ? null : a.max_bytes + b.max_bytes,
    bytes: a.bytes + b.bytes,
    entries: a.entries + b.entries,
    oldest: oldestOf(a.oldest, b.oldest),
    due_entries: a.due_entries + b.due_entries,
    removable_entries: a.removable_entries + b.removable_entries,
    held_by: a.held_by ?? b.held_by,
    ...(last ? { removed: { ...last, entries: (one?.entries ?? 0) + (other?.entries ?? 0) } } : {}),
  }
}

/** The gate processes beside this one, for what is said of the whole node. */
export class GateWatch {
  readonly #gates: Gates | null
  readonly #clock: Pick<Clock, 'sleep'>

  constructor({ gates, clock }: { readonly gates: Gates | null; readonly clock: Clock }) {
    // The others report of themselves alone.
    this.#gates = gates?.index === 0 ? gates : null
    this.#clock = clock
  }

  /** Facts of each of the others; none where this is the only one. */
  async facts(): Promise<readonly GateFacts[]> {
    const gates = this.#gates
    if (!gates) return []
    return Promise.all(gates.others.map((index) => this.#factsOf(gates, index)))
  }

  /** Integrity of the whole log, where that of this process' part is as given: the first finding of another one counts. */
  async withOthers(own: Integrity): Promise<Integrity> {
    return worst(
      own,
      (await this.facts()).flatMap(({ integrity }) => integrity ?? []),
    )
  }

  /** The same, verified now, or taken as it is. */
  async askLogs<Q extends 'verify log' | 'acknowledge log'>(
    own: Integrity,
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<Integrity> {
    const gates = this.#gates
    if (!gates) return own
    const asked = gates.others.map((index) => gates.ask(index, question, given))
    return worst(own, await Promise.all(asked))
  }

  /** Retention of the logs of all of them, where that of this one's is as given. */
  async retention(
    own: RetentionStatus,
    given: GateQuestions['retention']['given'],
  ): Promise<RetentionStatus> {
    const gates = this.#gates
    if (!gates) return own
    const asked = gates.others.map((index) => gates.ask(index, 'retention', given))
    return (await Promise.all(asked)).reduce(together, own)
  }

  /** Metrics of each of the others that answers. */
  async metrics(): Promise<readonly MetricValues[]> {
    const gates = this.#gates
    if (!gates) return []
    const asked = gates.others.map((index) => gates.ask(index, 'metrics', null))
    const answered = await Promise.allSettled(asked)
    return answered.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  /** Has each of the others that answers sign what its log has by now. */
  async sign(): Promise<void> {
    const gates = this.#gates
    const asked = gates?.others.map((index) => this.#soon(gates, index, 'sign log')) ?? []
    await Promise.allSettled(asked)
  }

  async #factsOf(gates: Gates, index: number): Promise<GateFacts> {
    try {
      return await this.#soon(gates, index, 'facts')
    } catch (cause) {
      return unknown(cause instanceof GatehouseError ? cause.message : 'it does not answer')
    }
  }

  /** Asks one of the others what it can answer at once. */
  async #soon<Q extends 'facts' | 'sign log'>(
    gates: Gates,
    index: number,
    question: Q,
  ): Promise<GateQuestions[Q]['answer']> {
    const late = new AbortController()
    try {
      return await Promise.race([
        gates.ask(index, question, null),
        this.#clock.sleep(answerMs, late.signal).then(() => {
          const detail = `gate process ${index + 1} does not answer`
          throw new GatehouseError('StorageUnavailable', { detail })
        }),
      ])
    } finally {
      late.abort()
    }
  }
}

/** How the gateway is where several processes serve it: one that is not well leaves its agents unserved. */
export const gatewayHealth = (own: PartHealth, others: readonly GateFacts[]): PartHealth => {
  if (own.status !== 'healthy') return own
  const reasons = others.flatMap((one) => (one.status === 'healthy' ? [] : one.reasons))
  return reasons.length === 0 ? own : { status: 'degraded', reason: reasons.join('; ') }
}
