import {
  GatehouseError,
  type Integrity,
  type LogFinding,
  type RetentionStatus,
  type UncheckedLog,
} from '@gatehouse/contract'
import { describeSystemFailure } from '../../domain/system-failure.ts'
import type { Clock } from '../../ports/clock.ts'
import type { GateFacts, GateQuestion, GateQuestions, Gates } from '../../ports/gates.ts'
import type { Log } from '../../ports/log.ts'
import type { MetricValues } from '../../ports/metrics.ts'
import type { FoundByNode } from '../call/found-by-node.ts'
import {
  findingOf,
  type GateReport,
  retentionOfAll,
  withFinding,
  worstOf,
} from './logs-together.ts'

/** How long one of them may take to say how it is. */
const answerMs = 2_000
/** The same where one that is busy would pass for one that nobody could ask, or that has signed nothing. */
const patientMs = 10_000

const remedy =
  'wait until it serves again, or see in the log of the service why it does not start; then run: gatehouse audit verify'

type By = { readonly actor: string; readonly request_id: string }

type Parts = {
  readonly gates: Gates | null
  readonly clock: Pick<Clock, 'sleep' | 'wall'>
  readonly log: Pick<Log, 'error'>
  /** Nodes that share the store and are gone without a word: nobody compares their logs with the copies. */
  readonly missingNodes: () => readonly UncheckedLog[]
  /** Findings that other nodes have. */
  readonly foundByNodes: () => readonly FoundByNode[]
}

/** Answers of the others, and the logs of those who gave none. */
type Asked<T> = { readonly answers: readonly T[]; readonly silent: readonly UncheckedLog[] }

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof GatehouseError)) return describeSystemFailure(cause)
  const { detail } = cause.facts
  return typeof detail === 'string' ? detail : cause.message
}

/** The gate processes beside this one, for what is said of the whole node. */
export class GateWatch {
  readonly #parts: Parts
  readonly #gates: Gates | null
  /** When each of them was last heard of. */
  readonly #heardMs = new Map<number, number>()
  readonly #known = new Map<number, GateFacts>()
  /** People who asked a process that was down to remove what is due: it does once it serves again. */
  readonly #owed = new Map<number, By>()

  constructor(parts: Parts) {
    this.#parts = parts
    const { gates } = parts
    // The others report of themselves alone.
    this.#gates = gates?.index === 0 ? gates : null
    for (const index of this.#others()) this.#hear(index)
    this.#gates?.onServing((index, serves) => {
      this.#hear(index)
      if (serves) void this.#settle(index)
    })
  }

  /** Facts of each of the others; none where this is the only one. */
  facts(): Promise<readonly GateReport[]> {
    return Promise.all(this.#others().map((index) => this.#factsOf(index, answerMs)))
  }

  /** Integrity of the whole log, where that of this process' part is as given: the first finding of another one counts. */
  async withOthers(own: Integrity): Promise<Integrity> {
    const facts = await Promise.all(this.#others().map((one) => this.#factsOf(one, patientMs)))
    return this.#withNodes(
      own,
      facts.flatMap(({ integrity }) => integrity ?? []),
      facts.flatMap(({ unchecked }) => unchecked ?? []),
    )
  }

  /** The first finding of this node, where that of this process' part is as given, and those of others are as they last said. */
  finding(own: Integrity): LogFinding | null {
    const known = [...this.#known.values()].flatMap(({ integrity }) => integrity ?? [])
    return findingOf(worstOf(own, known, []))
  }

  /** The same, verified now, or taken as it is. */
  async askLogs<Q extends 'verify log' | 'acknowledge log'>(
    own: Integrity,
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<Integrity> {
    const { answers, silent } = await this.#askAll(question, given)
    return this.#withNodes(own, answers, silent)
  }

  /** Retention of the logs of all of them, where that of this one's is as given. */
  async retention(
    own: RetentionStatus,
    given: GateQuestions['retention']['given'],
  ): Promise<RetentionStatus> {
    const { answers, silent } = await this.#askAll('retention', given, (index) => {
      if (given) this.#owed.set(index, given)
    })
    return retentionOfAll(own, answers, silent)
  }

  /** Metrics of each of the others that answers. */
  async metrics(): Promise<readonly MetricValues[]> {
    const asked = this.#others().map((index) => this.#ask(index, 'metrics', null))
    const answered = await Promise.allSettled(asked)
    return answered.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  /** Has each of the others that answers sign what its log has by now. */
  async sign(): Promise<void> {
    const asked = this.#others().map((index) => this.#soon(index, 'sign log', patientMs))
    await Promise.allSettled(asked)
  }

  #withNodes(
    own: Integrity,
    others: readonly Integrity[],
    silent: readonly UncheckedLog[],
  ): Integrity {
    const { missingNodes, foundByNodes } = this.#parts
    const found = foundByNodes().map((finding) => withFinding(own, finding))
    return worstOf(own, [...others, ...found], [...silent, ...missingNodes()])
  }

  #others(): readonly number[] {
    return this.#gates?.others ?? []
  }

  #hear(index: number): void {
    this.#heardMs.set(index, this.#parts.clock.wall())
  }

  /** Asks each of the others something about its log that may take long. */
  async #askAll<Q extends GateQuestion>(
    question: Q,
    given: GateQuestions[Q]['given'],
    onSilent: (index: number) => void = () => undefined,
  ): Promise<Asked<GateQuestions[Q]['answer']>> {
    const asked = await Promise.all(
      this.#others().map(async (index) => {
        try {
          // One that does not even say how it is would be waited for for minutes.
          await this.#soon(index, 'facts', patientMs)
          return { answer: await this.#ask(index, question, given) }
        } catch (cause) {
          onSilent(index)
          return { silent: this.#unchecked(index, cause) }
        }
      }),
    )
    return {
      answers: asked.flatMap((one) => ('answer' in one ? [one.answer] : [])),
      silent: asked.flatMap((one) => ('silent' in one ? [one.silent] : [])),
    }
  }

  async #factsOf(index: number, limitMs: number): Promise<GateReport> {
    try {
      const facts = await this.#soon(index, 'facts', limitMs)
      this.#known.set(index, facts)
      return { ...facts, process: index + 1, unchecked: null }
    } catch (cause) {
      const unchecked = this.#unchecked(index, cause)
      return {
        status: 'unhealthy',
        reasons: [unchecked.reason],
        ...{ sessions: 0, processes: 0, integrity: null },
        entries: this.#known.get(index)?.entries ?? 0,
        process: index + 1,
        unchecked,
      }
    }
  }

  #unchecked(index: number, cause: unknown): UncheckedLog {
    const heardMs = this.#heardMs.get(index) ?? this.#parts.clock.wall()
    return {
      log: `gate process ${index + 1}`,
      since: new Date(heardMs).toISOString(),
      reason: reasonOf(cause),
      remedy,
    }
  }

  async #ask<Q extends GateQuestion>(
    index: number,
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<GateQuestions[Q]['answer']> {
    if (!this.#gates) throw new Error('there is one gate process alone')
    const answer = await this.#gates.ask(index, question, given)
    this.#hear(index)
    return answer
  }

  /** Asks one of the others what it can answer at once. */
  async #soon<Q extends 'facts' | 'sign log'>(
    index: number,
    question: Q,
    limitMs: number,
  ): Promise<GateQuestions[Q]['answer']> {
    const late = new AbortController()
    try {
      return await Promise.race([
        this.#ask(index, question, null),
        this.#parts.clock.sleep(limitMs, late.signal).then(() => {
          const detail = `gate process ${index + 1} does not answer`
          throw new GatehouseError('StorageUnavailable', { detail })
        }),
      ])
    } finally {
      late.abort()
    }
  }

  /** Has a process that serves again do what somebody asked of it meanwhile. */
  async #settle(index: number): Promise<void> {
    const by = this.#owed.get(index)
    if (!by) return
    this.#owed.delete(index)
    try {
      await this.#ask(index, 'retention', by)
    } catch (cause) {
      this.#parts.log.error({ err: cause, gate: index + 1 }, 'retention was asked for, and failed')
    }
  }
}
