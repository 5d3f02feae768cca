import type { CallFigures, CallSum, FigureRange } from '../../ports/audit-rows.ts'
import { type Block, blockEntries, type Columns, Numbering, steps } from './block.ts'
import { Spread } from './spread.ts'

/** Agents name capabilities as they like: of names that policy was never asked about, so many are told apart. */
const madeUpMax = 10_000

const [decision, request, call, run] = (['decision', 'request', 'call', 'run'] as const).map(
  (step) => steps.indexOf(step),
) as [number, number, number, number]

/** An entry has seven. */
const textsMax = 8 * blockEntries

type Sum = { -readonly [K in keyof CallSum]: CallSum[K] }

/** Texts of a block by the numbers that its columns have for them. */
type Words = {
  readonly agent: number | undefined
  readonly error: number | undefined
  readonly denied: number | undefined
  readonly blocked: number | undefined
  readonly none: number | undefined
  readonly texts: readonly string[]
  readonly pairs: Numbering
  /** The sums that its entries count in, by agent, capability and service in one number. */
  readonly sums: Map<number, Sum>
}

/** Adds up the calls of a range, block by block. */
export class FigureCounter {
  readonly #range: FigureRange
  readonly #calls: number[]
  readonly #denied: number[]
  readonly #failed: number[]
  readonly #held: number[]
  readonly #limited: number[]
  readonly #durations: (Spread | undefined)[]
  readonly #waits: (Spread | undefined)[]
  readonly #sums = new Map<string, Sum>()
  #madeUp = 0

  constructor(range: FigureRange) {
    this.#range = range
    const { fromMs, toMs, stepMs } = range
    const zeros = () => Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, () => 0)
    this.#calls = zeros()
    this.#denied = zeros()
    this.#failed = zeros()
    this.#held = zeros()
    this.#limited = zeros()
    this.#durations = this.#calls.map(() => undefined)
    this.#waits = this.#calls.map(() => undefined)
  }

  /** Takes the first `count` entries of a block, some at a time: after each part it yields. */
  *take(block: Block, count: number, atOnce: number): Generator<void> {
    const agent = this.#range.agent === null ? undefined : block.find(this.#range.agent)
    if (agent === undefined && this.#range.agent !== null) return
    const words = {
      agent,
      error: block.find('error'),
      denied: block.find('denied'),
      blocked: block.find('blocked'),
      none: block.find('none'),
      pairs: new Numbering(),
      sums: new Map<number, Sum>(),
    }
    for (let i = 0; i < count; i += atOnce) {
      const { columns, texts } = block.raw
      this.#takePart({ ...words, texts }, columns, i, Math.min(count, i + atOnce))
      yield
    }
  }

  done(): CallFigures {
    const at = (spreads: (Spread | undefined)[], share: number): (number | null)[] =>
      spreads.map((spread) => spread?.percentile(share) ?? null)
    return {
      calls: this.#calls,
      denied: this.#denied,
      failed: this.#failed,
      held: this.#held,
      limited: this.#limited,
      duration_p50_ms: at(this.#durations, 0.5),
      duration_p95_ms: at(this.#durations, 0.95),
      approval_wait_p50_ms: at(this.#waits, 0.5),
      // A run that ended well was counted with its request, which may have come before the range.
      sums: [...this.#sums.values()].filter(
        ({ calls, failed, denied }) => calls + failed + denied > 0,
      ),
    }
  }

  #takePart(words: Words, columns: Columns, from: number, to: number): void {
    const { fromMs, toMs, stepMs } = this.#range
    for (let i = from; i < to; i += 1) {
      const step = columns.step[i] as number
      if (step !== call && step !== request && step !== run && step !== decision) continue
      const time = columns.time[i] as number
      if (!(time >= fromMs && time < toMs)) continue
      if (words.agent !== undefined && columns.agent[i] !== words.agent) continue
      const bucket = Math.floor((time - fromMs) / stepMs)
      addTo(
        step === decision ? this.#waits : this.#durations,
        bucket,
        columns.duration[i] as number,
      )
      if (step !== decision) this.#count(words, columns, i, bucket)
    }
  }

  /** A request is counted as a call when it is made; its run adds only how that ended. */
  #count(words: Words, columns: Columns, i: number, bucket: number): void {
    const sum = this.#sumOf(words, columns, i)
    const step = columns.step[i] as number
    if (step !== run) {
      sum.calls += 1
      count(this.#calls, bucket)
    }
    if (step === request) {
      sum.held += 1
      count(this.#held, bucket)
    }
    const result = columns.result[i]
    if (result === words.error) {
      sum.failed += 1
      count(this.#failed, bucket)
    } else if (result === words.denied) {
      // A call that policy let pass met a limit; an approved request is only ever refused by what changed since.
      const isDenied = step === run || columns.decision[i] === words.blocked
      if (isDenied) sum.denied += 1
      count(isDenied ? this.#denied : this.#limited, bucket)
    }
  }

  #sumOf(words: Words, columns: Columns, i: number): Sum {
    const { texts, pairs, sums } = words
    const agent = columns.agent[i] as number
    const capability = columns.capability[i] as number
    const service = columns.service[i] as number
    const isJudged = columns.decision[i] !== words.none
    const pair = pairs.of(agent * textsMax + capability)
    const key = (pair * textsMax + service) * 2 + Number(isJudged)
    let sum = sums.get(key)
    if (!sum) {
      sum = this.#named(
        texts[agent] as string,
        texts[capability] as string,
        texts[service] as string,
        isJudged,
      )
      sums.set(key, sum)
    }
    return sum
  }

  #named(agent: string, capability: string, service: string, isJudged: boolean): Sum {
    const name = JSON.stringify([agent, capability, service])
    const known = this.#sums.get(name)
    if (known) {
      known.judged ||= isJudged
      return known
    }
    if (!isJudged && capability !== '') {
      if (this.#madeUp === madeUpMax) return this.#named(agent, '', '', false)
      this.#madeUp += 1
    }
    const sum = {
      agent,
      capability,
      service: service === '' ? null : service,
      judged: isJudged,
      ...{ calls: 0, failed: 0, denied: 0, held: 0 },
    }
    this.#sums.set(name, sum)
    return sum
  }
}

const count = (counts: number[], bucket: number): void => {
  counts[bucket] = (counts[bucket] as number) + 1
}

const addTo = (spreads: (Spread | undefined)[], bucket: number, ms: number): void => {
  if (!Number.isNaN(ms)) (spreads[bucket] ??= new Spread()).add(ms)
}
