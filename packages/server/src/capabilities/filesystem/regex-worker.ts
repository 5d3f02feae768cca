import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import { findInLines, replaceIn } from './regex-steps.ts'

export const answerMs = 5_000

export type Job =
  | { readonly op: 'find'; readonly lines: readonly string[]; readonly max: number }
  | { readonly op: 'replace'; readonly text: string; readonly replacement: string }

type Answer = { readonly result: unknown } | { readonly error: string }

/**
 * @NOTE The worker is given its program as text, made of the very functions that run here: a file of its
 * own would have another name built than in the sources, where Node cannot load it.
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { RE2JS } = require(workerData.library)
const findInLines = ${findInLines.toString()}
const replaceIn = ${replaceIn.toString()}
let regex = null
parentPort.on('message', (job) => {
  try {
    regex ??= RE2JS.compile(workerData.pattern)
    const result = job.op === 'find'
      ? findInLines(regex, job.lines, job.max)
      : replaceIn(regex, job.text, job.replacement)
    parentPort.postMessage({ result })
  } catch (error) {
    parentPort.postMessage({ error: String(error.message) })
  }
})
`

/** A pattern in a thread of its own, which is ended when it takes too long or the caller has gone. */
export class RegexWorker implements Disposable {
  readonly #worker: Worker

  constructor(pattern: string) {
    const library = createRequire(import.meta.url).resolve('re2js')
    this.#worker = new Worker(program, {
      eval: true,
      workerData: { library, pattern },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    // Each failure is told to whoever waits for an answer; without a listener it would end the process.
    this.#worker.on('error', () => undefined)
    this.#worker.unref()
  }

  async ask(job: Job, signal: AbortSignal): Promise<unknown> {
    const refuse = (detail: string): GatehouseError =>
      new GatehouseError('InvalidPattern', { detail })
    const worker = this.#worker
    const stop = new AbortController()
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        const { signal: over } = stop
        const timer = setTimeout(() => {
          reject(refuse(`it took more than ${answerMs / 1000} seconds on this file`))
        }, answerMs)
        over.addEventListener('abort', () => clearTimeout(timer))
        signal.addEventListener('abort', () => reject(new GatehouseError('Cancelled')), {
          signal: over,
        })
        worker.once('message', resolve)
        worker.once('error', () => reject(refuse('it needs too much memory')))
        worker.once('exit', () => reject(refuse('it was ended')))
        if (signal.aborted) reject(new GatehouseError('Cancelled'))
        else worker.postMessage(job)
      })
      if ('error' in answer) throw refuse(answer.error)
      return answer.result
    } finally {
      stop.abort()
      worker.removeAllListeners('message').removeAllListeners('exit')
    }
  }

  [Symbol.dispose](): void {
    void this.#worker.terminate()
  }
}
