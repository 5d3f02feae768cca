import { setImmediate } from 'node:timers/promises'
import { GatehouseError } from '@gatehouse/contract'
import { RE2JS } from 're2js'
import { describePatternFault } from './pattern-fault.ts'
import { findInLines, type LineMatch, replaceIn } from './regex-steps.mjs'
import { RegexWorker } from './regex-worker.ts'

export const patternCharsMax = 1_000

/** Characters times instructions: for each a few dozen nanoseconds go by. */
const sliceSteps = 20_000
const replaceSteps = 200_000
/** A search that goes on for longer than this goes on in the worker, beside everybody else. */
const hereMs = 50
const linesPerJob = 10_000
/** Cost of a line besides its characters. */
const perLineChars = 20

/** Characters times repetitions of a pattern that is compiled on the main thread. */
const compileMax = 5_000

const compileCost = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (cost, [, from, to]) => cost * Math.max(1, Number(to || from)),
    pattern.length,
  )

const compile = (pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    const said = error instanceof Error ? error.message : ''
    const detail = describePatternFault(said)
    throw new GatehouseError('InvalidPattern', { detail }, { cause: error })
  }
}

/**
 * A regular expression in RE2 syntax, matched in linear time: no look-around, no back-references. What
 * would hold the event loop goes to a worker.
 * @SECURITY Never the engine of the language: one pattern could stop the service (regex.test.ts).
 */
export class Regex implements Disposable {
  readonly #pattern: string
  readonly #here: RE2JS | null
  readonly #size: number
  #spentMs = 0
  #worker: RegexWorker | null = null

  constructor(pattern: string) {
    if (pattern.length > patternCharsMax) {
      const detail = `it has more than ${patternCharsMax} characters`
      throw new GatehouseError('InvalidPattern', { detail })
    }
    this.#pattern = pattern
    this.#here = compileCost(pattern) <= compileMax ? compile(pattern) : null
    this.#size = this.#here?.programSize() ?? 0
  }

  /** Matches within single lines, in order, at most `max`. */
  async findInLines(
    lines: readonly string[],
    max: number,
    signal: AbortSignal,
  ): Promise<LineMatch[]> {
    const here = this.#here
    const isLong = (line: string): boolean => line.length * this.#size > sliceSteps
    if (!here || this.#spentMs > hereMs || lines.some(isLong)) {
      return this.#findThere(lines, max, signal)
    }
    const found: LineMatch[] = []
    for (let from = 0; from < lines.length && found.length < max; ) {
      const started = performance.now()
      let to = from
      for (let chars = 0; to < lines.length && chars * this.#size <= sliceSteps; to++) {
        chars += (lines[to]?.length ?? 0) + perLineChars
      }
      for (const match of findInLines(here, lines.slice(from, to), max - found.length)) {
        found.push({ ...match, line: match.line + from })
      }
      from = to
      this.#spentMs += performance.now() - started
      if (from < lines.length) await setImmediate()
    }
    return found
  }

  async #findThere(
    lines: readonly string[],
    max: number,
    signal: AbortSignal,
  ): Promise<LineMatch[]> {
    const found: LineMatch[] = []
    for (let from = 0; from < lines.length && found.length < max; from += linesPerJob) {
      const part = lines.slice(from, from + linesPerJob)
      const job = { op: 'find', lines: part, max: max - found.length } as const
      for (const match of (await this.#ask(job, signal)) as LineMatch[]) {
        found.push({ ...match, line: match.line + from })
      }
    }
    return found
  }

  async replaceAll(
    text: string,
    replacement: string,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly count: number }> {
    if (this.#here && text.length * this.#size <= replaceSteps) {
      return replaceIn(this.#here, text, replacement)
    }
    const answer = await this.#ask({ op: 'replace', text, replacement }, signal)
    return answer as { text: string; count: number }
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]()
    this.#worker = null
  }

  #ask(job: Parameters<RegexWorker['ask']>[0], signal: AbortSignal): Promise<unknown> {
    this.#worker ??= new RegexWorker(this.#pattern)
    return this.#worker.ask(job, signal)
  }
}
