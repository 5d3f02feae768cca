import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { Clock } from '../ports/clock.ts'
import type { VerifierAnswer, VerifierJob, VerifierMessage } from './answer-jobs.ts'
import type { ChainVerifier } from './chain-verifier.ts'
import type { CopiesQuestion } from './check-copies.ts'
import type { ChainQuestion, Found, LogDigest } from './verify-chain.ts'

type Parts = {
  /** Opens the log and calls `answerJobs`. */
  readonly program: URL
  /** Where the log lies, for the program. */
  readonly place: unknown
  readonly clock: Clock
}

type Waiting = {
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: unknown) => void
}

/** How long a thread without work stays: who pages through the log asks every few seconds. */
const idleMs = 15_000
/** A connection whose other side is gone may not let the thread end by itself. */
const endMs = 10_000
/** Rows come in slices, so what a verification keeps does not grow with the log. */
const heapMb = 256

const ended = (cause: unknown): GatehouseError => {
  const detail = 'the thread that verifies the audit log ended before it was done'
  return new GatehouseError('StorageUnavailable', { detail }, { cause })
}

/**
 * Verifies the log on a thread and a connection of its own, so that calls are answered meanwhile. The thread
 * starts with the first question and ends when none came for a while.
 */
export class VerifierThread implements ChainVerifier, AsyncDisposable {
  readonly #parts: Parts
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #ending: Promise<unknown> = Promise.resolve()
  #idle: Disposable | null = null
  #asked = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  verify(question: ChainQuestion, signal: AbortSignal): Promise<Found> {
    return this.#ask({ op: 'verify', question }, signal) as Promise<Found>
  }

  checkCopies(question: CopiesQuestion, signal: AbortSignal): Promise<Fault | null> {
    return this.#ask({ op: 'copies', question }, signal) as Promise<Fault | null>
  }

  digest(chain: string, size: number, signal: AbortSignal): Promise<LogDigest> {
    return this.#ask({ op: 'digest', chain, size }, signal) as Promise<LogDigest>
  }

  /** Null while no thread runs. */
  get threadId(): number | null {
    return this.#worker?.threadId ?? null
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(ended(null))
    await this.#ending
  }

  async #ask(job: VerifierJob, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    this.#idle?.[Symbol.dispose]()
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#asked
    // The signal is that of the service: when it stops, nobody needs any of the answers.
    const onAbort = (): void => this.#end(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        worker.ref()
        worker.postMessage({ id, job } satisfies VerifierMessage)
      })
    } finally {
      signal.removeEventListener('abort', onAbort)
      if (this.#worker === worker && this.#waiting.size === 0) this.#rest(worker)
    }
  }

  #rest(worker: Worker): void {
    worker.unref()
    this.#idle?.[Symbol.dispose]()
    this.#idle = this.#parts.clock.after(idleMs, () => {
      if (this.#worker === worker) this.#end(null)
    })
  }

  #start(): Worker {
    const worker = new Worker(this.#parts.program, {
      workerData: this.#parts.place,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    const lost = (cause: unknown): void => {
      if (this.#worker !== worker) return
      this.#end(ended(cause))
    }
    worker.on('message', ({ id, ...answer }: VerifierAnswer) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if ('result' in answer) return waiting?.resolve(answer.result)
      const { type, facts, cause } = answer.failure
      waiting?.reject(new GatehouseError(type, facts, { cause }))
    })
    worker.on('error', lost).on('messageerror', lost)
    worker.on('exit', (code) => lost(new Error(`the thread ended with ${code}`)))
    return worker
  }

  #end(cause: unknown): void {
    const worker = this.#worker
    this.#worker = null
    this.#idle?.[Symbol.dispose]()
    this.#idle = null
    for (const { reject } of this.#waiting.values()) reject(cause)
    this.#waiting.clear()
    if (worker) this.#ending = Promise.all([this.#ending, this.#stop(worker)])
  }

  /**
   * @SECURITY Asked, not terminated: a thread that is ended inside of the SQLite driver takes the process with it.
   * "a service that stops" in verify-log.test.ts.
   */
  async #stop(worker: Worker): Promise<void> {
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    if (worker.threadId === -1) return
    const late = this.#parts.clock.after(endMs, () => void worker.terminate())
    worker.ref()
    worker.postMessage('stop' satisfies VerifierMessage)
    await exited
    late[Symbol.dispose]()
  }
}
