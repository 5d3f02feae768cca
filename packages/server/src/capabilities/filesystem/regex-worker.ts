import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import { describePatternFault } from './pattern-fault.ts'
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
    let finish = (_answer: Answer | GatehouseError): void => {}
    const answered = new Promise<Answer | GatehouseError>((resolve) => {
      finish = resolve
    })
    const late = `it took more than ${answerMs / 1000} seconds`
    const onMessage = (answer: Answer): void => finish(answer)
    const onError = (): void => finish(refuse('it needs too much memory'))
    const onExit = (): void => finish(refuse('it was ended'))
    const onAbort = (): void => finish(new GatehouseError('Cancelled'))
    const timer = setTimeout(() => finish(refuse(late)), answerMs)
    worker.once('message', onMessage).once('error', onError).once('exit', onExit)
    signal.addEventListener('abort', onAbort)
    try {
      if (signal.aborted) throw new GatehouseError('Cancelled')
      worker.postMessage(job)
      const answer = await answered
      if (answer instanceof GatehouseError) throw answer
      if ('error' in answer) throw refuse(describePatternFault(answer.error))
      return answer.result
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }

  [Symbol.dispose](): void {
    void this.#worker.terminate()
  }
}
