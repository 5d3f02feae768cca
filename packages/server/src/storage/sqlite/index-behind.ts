import { Worker } from 'node:worker_threads'
import type { FramePlace, IndexBehind } from '../../ports/storage.ts'
import type { FifoMutex } from '../mutex.ts'
import { failure } from './adapter.ts'
import type { GroupTexts } from './group-texts.ts'

/** A lone caller waits for the disk that the other thread writes to, so that one waits for more to come. */
const laterMs = 250
/** A commit of the other thread costs this one something too, so that they are few under load. */
const rowsAtOnce = 4_096
/** While somebody reads what is indexed, less is taken in at a time. */
const rowsForReaders = 512
const readsLastMs = 1_000
const againAfterMs = 1_000

/** What the thread is started with. */
export type IndexerData = {
  readonly file: string
  readonly texts: GroupTexts
  readonly pragmas: readonly string[]
}

/** What the thread is asked: to index these frames in one transaction. */
export type IndexJob = {
  readonly places: readonly FramePlace[]
  /** Whether this process wrote by another connection since the last job. */
  readonly others: boolean
}

/** `foreign`: somebody else wrote since the last job. */
export type IndexAnswer =
  | { readonly foreign: boolean }
  | { readonly message: string; readonly errcode: number | undefined }

type Parts = {
  /** The database, for the program and for errors. */
  readonly file: string
  /** The program of the thread. */
  readonly program: URL
  /** What the thread runs, and what it sets first. */
  readonly texts: GroupTexts
  readonly pragmas: readonly string[]
  readonly mutex: FifoMutex
  /** Runs around each job, with what it answered. */
  readonly around: (work: (others: boolean) => Promise<boolean>) => Promise<void>
}

/** Adds a place, to the last one where it lies right behind it. */
const join = (places: FramePlace[], place: FramePlace): void => {
  const last = places.at(-1)
  if (last && last.file === place.file && last.at + last.bytes === place.at)
    places[places.length - 1] = { ...last, bytes: last.bytes + place.bytes }
  else places.push(place)
}

/**
 * Takes groups into the index behind the log, on a thread and a connection of its own: a commit of SQLite writes
 * every page that a row touches, which is several times the work of appending the row.
 */
export class BehindIndex implements IndexBehind {
  readonly #parts: Parts
  #noted: FramePlace[] = []
  #rows = 0
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #worker: Worker | null = null
  /** Why the last attempt failed, until one goes well. */
  #failure: { readonly error: unknown; readonly at: number } | null = null
  /** When somebody last waited for it, by `performance.now`. */
  #readAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#noted.length === 0 && this.#running === null
  }

  /** Resolves when what is taken in now is; null while nothing is. Never rejects. */
  get running(): Promise<void> | null {
    return this.#running
  }

  note(place: FramePlace, rows: number): void {
    join(this.#noted, place)
    this.#rows += rows
    const isReading = performance.now() - this.#readAt < readsLastMs
    this.#later(this.#rows < (isReading ? rowsForReaders : rowsAtOnce) ? laterMs : 0)
  }

  async caughtUp(): Promise<void> {
    this.#readAt = performance.now()
    // What is under way may have begun before the last note.
    while (!this.isEmpty) await (this.#running ?? this.#parts.mutex.run(() => this.takeIn()))
  }

  /**
   * The same for a reader: not while a transaction is open, since it may be the reader's own, which this would wait
   * for.
   */
  async caughtUpForReader(): Promise<void> {
    if (this.isEmpty) return
    // What was counted a moment ago is better than nothing where the disk is full: health is read by it.
    if (this.#running || !this.#parts.mutex.isHeld) await this.caughtUp().catch(() => undefined)
  }

  /** For whoever has the mutex. Raises what the store raised, and keeps what was not taken in. */
  async takeIn(): Promise<void> {
    if (this.#noted.length === 0) return
    // Readers come often: not each of them tries again what failed just now.
    if (this.#failure && performance.now() - this.#failure.at < againAfterMs) {
      this.#later(againAfterMs)
      throw this.#failure.error
    }
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const [places, rows] = [this.#noted, this.#rows]
    this.#noted = []
    this.#rows = 0
    const job = this.#parts.around(async (others) => this.#run({ places, others }))
    this.#running = job.catch(() => undefined)
    try {
      await job
      this.#failure = null
    } catch (error) {
      this.#failure = { error, at: performance.now() }
      const since = this.#noted
      this.#noted = [...places]
      for (const place of since) join(this.#noted, place)
      this.#rows += rows
      this.#later(againAfterMs)
      throw error
    } finally {
      this.#running = null
    }
  }

  /** Forgets what was noted: the index is made anew. */
  forget(): void {
    this.#noted = []
    this.#rows = 0
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    if (this.#timer) clearTimeout(this.#timer)
    worker?.removeAllListeners()
    await worker?.terminate()
  }

  #later(ms: number): void {
    if (ms === 0 && this.#running === null && !this.#parts.mutex.isHeld) return this.#quietly()
    this.#timer ??= setTimeout(() => this.#quietly(), ms).unref()
  }

  #quietly(): void {
    this.#timer = null
    // Whoever reads next is told of a failure.
    this.#parts.mutex.run(() => this.takeIn()).catch(() => undefined)
  }

  async #run(job: IndexJob): Promise<boolean> {
    const worker = (this.#worker ??= this.#start())
    const answer = await new Promise<IndexAnswer>((resolve) => {
      const died = (cause: unknown) => {
        this.#worker = null
        const message = cause instanceof Error ? cause.message : 'the thread that indexes ended'
        resolve({ message, errcode: undefined })
      }
      worker.removeAllListeners()
      worker.once('message', resolve)
      worker.once('error', died)
      worker.once('exit', died)
      worker.ref()
      worker.postMessage(job)
    })
    worker.unref()
    if ('foreign' in answer) return answer.foreign
    const { message, errcode } = answer
    throw failure(Object.assign(new Error(message), { errcode }), this.#parts.file)
  }

  #start(): Worker {
    const { file, program, texts, pragmas } = this.#parts
    return new Worker(program, { workerData: { file, texts, pragmas } satisfies IndexerData })
  }
}
