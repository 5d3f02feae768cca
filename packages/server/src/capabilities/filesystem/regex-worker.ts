import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import { describePatternFault } from './pattern-fault.ts'

/** Far above what a job takes in linear time, also beside other programs. */
const answerMs = 20_000

export type Job =
  | { readonly op: 'find'; readonly lines: readonly string[]; readonly max: number }
  | { readonly op: 'replace'; readonly text: string; readonly replacement: string }

type Answer = { readonly result: unknown } | { readonly error: string }
/** First word of the thread, once it takes jobs. */
type Ready = { readonly ready: true }

const program = new URL('./regex-thread.mjs', import.meta.url)

/** A pattern in a thread of its own, which is ended when it takes too long or the caller has gone. */
export class RegexWorker implements Disposable {
  readonly #worker: Worker
  #isReady = false

  constructor(pattern: string) {
    this.#worker = new Worker(program, {
      workerData: { pattern },
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
    let timer: NodeJS.Timeout | undefined
    // From when the thread is there: its start takes a while of its own on a busy machine.
    const startClock = (): void => {
      timer = setTimeout(() => finish(refuse(late)), answerMs)
    }
    const onMessage = (said: Answer | Ready): void => {
      if (!('ready' in said)) return finish(said)
      this.#isReady = true
      startClock()
    }
    const onError = (): void => finish(refuse('it needs too much memory'))
    const onExit = (): void => finish(refuse('it was ended'))
    const onAbort = (): void => finish(new GatehouseError('Cancelled'))
    if (this.#isReady) startClock()
    worker.on('message', onMessage).once('error', onError).once('exit', onExit)
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
