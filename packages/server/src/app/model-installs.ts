import { type CapabilityError, GatehouseError, type ModelJob } from '@gatehouse/contract'
import { failureOf } from '../domain/failure.ts'
import { gradeFit } from '../domain/models/fit.ts'
import type { OfferedModel } from '../domain/models/merge-models.ts'
import type { JournalTransaction } from '../ports/audit.ts'
import type { StoredJob } from '../ports/jobs.ts'
import type { ModelFiles } from '../ports/models.ts'
import { actDraft } from './audit-draft.ts'
import type { Basics } from './deps.ts'
import { type JobKind, type JobVerdict, newJob } from './job-kind.ts'
import { JobRunner } from './job-runner.ts'
import {
  ActiveInstall,
  type InstallOutcome,
  type InstallPayload,
  isUnderWay,
  jobRecord,
  outcomeOf,
  payloadOf,
  subjectOf,
} from './model-jobs.ts'
import { actorText, type Op } from './op.ts'

type Deps = Pick<Basics, 'storage' | 'journal' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly files: ModelFiles
  readonly signal: AbortSignal
}

/** A kill costs a run, and nothing is lost by many. */
const attemptsMax = 1_000_000
/** Runs in a row without a new byte before it is given up; what is here stays for the next request. */
const fruitlessMax = 8
const againMaxMs = 60_000
const progressSteps = 10
const jobsKept = 20

/** These would come out the same again. */
const final: readonly string[] = [
  'ModelHashMismatch',
  'ModelSizeMismatch',
  'ModelHeaderRefused',
  'ModelSourceFailed',
  'NotEnoughDisk',
  'UrlNotAllowed',
  'RequestNotAllowed',
  'RedirectRefused',
  'TlsFailed',
]

/** Ids sort by creation; due times do not, as those that waited for a retry show. */
const newestOf = (jobs: readonly StoredJob[]): StoredJob | null =>
  jobs.reduce<StoredJob | null>(
    (newest, job) => (newest && newest.id > job.id ? newest : job),
    null,
  )

const failureText = (cause: unknown): CapabilityError =>
  cause instanceof GatehouseError
    ? failureOf(cause)
    : { type: 'InternalError', message: 'The installation failed unexpectedly.', recovery: [] }

/**
 * Installs models, one job each: it goes on after kills, stops and lost connections, and ends with a verified
 * file in its place or with none.
 */
export class ModelInstalls {
  readonly #deps: Deps
  /** One of its own: a download of hours must not keep put-off calls waiting. */
  readonly #jobs: JobRunner
  readonly #active = new Map<string, ActiveInstall>()
  /** The last of those that want the file of a hash: two models may share one. */
  readonly #turns = new Map<string, Promise<void>>()
  #started: Promise<void> | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#jobs = new JobRunner({ ...deps, node: `${deps.node}/models` }, [this.#kind()])
  }

  /** Also without a server: whoever installs by a command waits for it there. */
  start(): Promise<void> {
    this.#started ??= this.#jobs.start()
    return this.#started
  }

  async stopped(): Promise<void> {
    if (this.#started) await this.#jobs.stopped()
  }

  /** The last installation of a model, or null. */
  async last(id: string): Promise<StoredJob | null> {
    const page = { limit: jobsKept + 1, offset: 0 }
    const { jobs } = await this.#deps.storage.jobs.listOf(subjectOf(id), page)
    return jobs.find(isUnderWay) ?? newestOf(jobs)
  }

  async find(job_id: string): Promise<ModelJob> {
    const job = await this.#deps.storage.jobs.find(job_id)
    if (!job?.subject.startsWith(subjectOf(''))) throw new GatehouseError('JobNotFound', { job_id })
    return this.record(job)
  }

  async record(job: StoredJob): Promise<ModelJob> {
    const { sha256 } = payloadOf(job).entry
    const partial = isUnderWay(job) ? await this.#deps.files.partialBytes(sha256) : 0
    const bytes = partial || (outcomeOf(job)?.bytes ?? 0)
    return jobRecord(job, this.#active.get(job.id), bytes)
  }

  /** A second request joins the installation that is under way. Raises `NotEnoughDisk` before anything is stored. */
  async request(op: Op, { entry, source }: OfferedModel): Promise<ModelJob> {
    const { journal, files, clock } = this.#deps
    const running = await this.last(entry.id)
    if (!running || !isUnderWay(running))
      if (!(await files.holds(entry))) await this.#assertRoom(entry)
    const payload: InstallPayload = { entry, source, requested_by: actorText(op.actor) }
    const job = await journal.transaction(async (tx) => {
      const { jobs } = await tx.jobs.listOf(subjectOf(entry.id), { limit: jobsKept + 1, offset: 0 })
      const under = jobs.find(isUnderWay)
      if (under) return under
      const made = newJob(this.#deps, {
        kind: this.#kindName,
        subject: subjectOf(entry.id),
        agent: '',
        payload,
        dueMs: clock.wall(),
        attemptsMax,
      })
      await tx.jobs.insert(made)
      const { id, url, sha256, size_bytes } = entry
      const facts = { id, url, sha256, size_bytes, source, job_id: made.id }
      tx.append(actDraft(op, 'model.install_requested', { arguments: facts }))
      return made
    })
    await this.start()
    this.#jobs.nudge()
    return this.record(job)
  }

  /** What was fetched stays, and the next installation goes on from it. */
  async cancel(op: Op, id: string): Promise<ModelJob> {
    const { journal, clock } = this.#deps
    const cancelled = await journal.transaction(async (tx) => {
      const { jobs } = await tx.jobs.listOf(subjectOf(id), { limit: jobsKept + 1, offset: 0 })
      const job = jobs.find(isUnderWay)
      if (!job) return null
      const next: StoredJob = {
        ...job,
        state: 'cancelled',
        owner: null,
        lease_ms: null,
        finished_ms: clock.wall(),
      }
      if (!(await tx.jobs.replace(job, next))) return null
      tx.append(actDraft(op, 'model.install_cancelled', { arguments: { id, job_id: job.id } }))
      return next
    })
    if (!cancelled)
      throw new GatehouseError('Conflict', { detail: `The model ${id} is not being installed.` })
    this.#active.get(cancelled.id)?.cancelled.abort()
    return this.record(cancelled)
  }

  /** Jobs are claimed by any node that knows their kind, and a file lies on one. */
  get #kindName(): string {
    return `model_install:${this.#deps.node}`
  }

  #kind(): JobKind {
    return {
      kind: this.#kindName,
      repeatable: true,
      // Nothing was lost but time: a start goes on at once.
      afterLossMs: 0,
      perform: (job, signal) => this.#perform(job, signal),
    }
  }

  async #perform(job: StoredJob, signal: AbortSignal): Promise<JobVerdict> {
    const { entry } = payloadOf(job)
    const active = new ActiveInstall(this.#deps.clock)
    this.#active.set(job.id, active)
    const ending = AbortSignal.any([signal, active.cancelled.signal])
    try {
      await this.#inTurn(entry.sha256, () => this.#install(job, active, ending))
      await this.#deps.storage.jobs.prune(0, { subject: job.subject, keep: jobsKept })
      return this.#done('done', active, entry.size_bytes, null)
    } catch (cause) {
      return await this.#failed(job, active, cause, signal)
    } finally {
      this.#active.delete(job.id)
    }
  }

  #done(
    status: 'done' | 'failed' | 'cancelled',
    { fit }: ActiveInstall,
    bytes: number,
    error: CapabilityError | null,
  ): JobVerdict {
    const outcome: InstallOutcome = { status, error, fruitless: 0, bytes, most: bytes, fit }
    return { kind: 'done', outcome }
  }

  async #failed(
    job: StoredJob,
    active: ActiveInstall,
    cause: unknown,
    signal: AbortSignal,
  ): Promise<JobVerdict> {
    const { entry } = payloadOf(job)
    const { files, log } = this.#deps
    const bytes = await files.partialBytes(entry.sha256)
    if (active.cancelled.signal.aborted) return this.#done('cancelled', active, bytes, null)
    const before = outcomeOf(job)
    const most = Math.max(before?.most ?? 0, bytes)
    if (signal.aborted) {
      const outcome: InstallOutcome = {
        status: 'waiting',
        error: null,
        fruitless: before?.fruitless ?? 0,
        bytes,
        most,
        fit: active.fit,
      }
      return { kind: 'again', afterMs: 0, outcome }
    }
    const error = failureText(cause)
    // One that ignores ranges begins anew each time: only more than there ever was is new.
    const fruitless = most > (before?.most ?? 0) ? 1 : (before?.fruitless ?? 0) + 1
    const isFinal = cause instanceof GatehouseError && final.includes(cause.type)
    log.warn({ err: cause, model: entry.id, bytes, fruitless }, 'an installation did not get on')
    if (isFinal || fruitless >= fruitlessMax) {
      await this.#record('model.install_failed', job, {
        result: 'error',
        facts: { error: error.type, message: error.message, downloaded_bytes: bytes },
      })
      return this.#done('failed', active, bytes, error)
    }
    const outcome: InstallOutcome = {
      status: 'waiting',
      error,
      fruitless,
      bytes,
      most,
      fit: active.fit,
    }
    return { kind: 'again', afterMs: Math.min(1_000 * 2 ** (fruitless - 1), againMaxMs), outcome }
  }

  async #install(job: StoredJob, active: ActiveInstall, signal: AbortSignal): Promise<void> {
    const { files, log } = this.#deps
    const { entry } = payloadOf(job)
    const kept = await this.#keptHeader(job, active, signal)
    if (kept) return this.#publish(job, kept)
    await this.#assertRoom(entry, job.id)
    let told = Math.floor(
      ((await files.partialBytes(entry.sha256)) / entry.size_bytes) * progressSteps,
    )
    let telling: Promise<void> = Promise.resolve()
    const memory = await files.availableMemory()
    active.fit = gradeFit(entry.size_bytes, null, memory)
    const header = await files.fetch(
      entry,
      (progress) => {
        active.report(progress)
        if (progress.header && active.fit?.basis !== 'header')
          active.fit = gradeFit(entry.size_bytes, progress.header, memory)
        const step = Math.floor((progress.bytes / entry.size_bytes) * progressSteps)
        if (progress.phase !== 'downloading' || step <= told || step >= progressSteps) return
        told = step
        const facts = {
          percent: (step * 100) / progressSteps,
          downloaded_bytes: progress.bytes,
          bytes_per_second: active.bytesPerSecond(),
        }
        telling = telling
          .then(() => this.#record('model.install_progress', job, { facts }))
          .catch((err: unknown) => log.warn({ err }, 'how far an installation is was not recorded'))
      },
      signal,
    )
    await telling
    await this.#publish(job, header)
  }

  /** The file may be there already: another model has the same, or the service died before it said so. */
  async #keptHeader(job: StoredJob, active: ActiveInstall, signal: AbortSignal) {
    const { files } = this.#deps
    const { entry } = payloadOf(job)
    if (!(await files.holds(entry))) return null
    const found = await files.hash(entry.sha256, signal, (bytes) =>
      active.report({ phase: 'verifying', bytes, header: null }),
    )
    if (found?.sha256 === entry.sha256) return files.header(entry)
    await files.reject(entry.sha256)
    return null
  }

  async #publish(job: StoredJob, header: Awaited<ReturnType<ModelFiles['fetch']>>): Promise<void> {
    const { journal, clock, node, files } = this.#deps
    const { entry, source, requested_by } = payloadOf(job)
    const nowMs = clock.wall()
    let replaced: string | null = null
    await journal.transaction(async (tx) => {
      // Cancelled at the last moment: the file stays for the next time, and is not offered.
      if ((await tx.jobs.find(job.id))?.state === 'cancelled') throw new GatehouseError('Cancelled')
      const before = await tx.models.find(node, entry.id)
      replaced = before && before.sha256 !== entry.sha256 ? before.sha256 : null
      await tx.models.put({
        node,
        id: entry.id,
        source,
        sha256: entry.sha256,
        size_bytes: entry.size_bytes,
        entry_json: JSON.stringify(entry),
        header_json: JSON.stringify(header),
        installed_ms: nowMs,
        verified_ms: nowMs,
        problem: null,
      })
      this.#append(tx, 'model.installed', job, { facts: { sha256: entry.sha256, requested_by } })
    })
    if (replaced !== null && !(await this.isShared(replaced, null))) await files.remove(replaced)
  }

  /** Whether an installed model other than `besides` has this file. */
  async isShared(sha256: string, besides: string | null): Promise<boolean> {
    const all = await this.#deps.storage.models.list(this.#deps.node)
    return all.some((model) => model.sha256 === sha256 && model.id !== besides)
  }

  /** Counts only what is left of it, and what others under way will still write. */
  async #assertRoom(
    { id, sha256, size_bytes }: { id: string; sha256: string; size_bytes: number },
    ownJob: string | null = null,
  ): Promise<void> {
    const { files, storage } = this.#deps
    const needed_bytes = size_bytes - Math.min(size_bytes, await files.partialBytes(sha256))
    let free_bytes = await files.freeBytes()
    for (const job_id of this.#active.keys()) {
      const job = job_id === ownJob ? null : await storage.jobs.find(job_id)
      if (!job || payloadOf(job).entry.sha256 === sha256) continue
      const other = payloadOf(job).entry
      free_bytes -= Math.max(0, other.size_bytes - (await files.partialBytes(other.sha256)))
    }
    free_bytes = Math.max(0, free_bytes)
    if (needed_bytes > free_bytes)
      throw new GatehouseError('NotEnoughDisk', { id, needed_bytes, free_bytes })
  }

  async #inTurn(sha256: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(sha256) ?? Promise.resolve()
    const turn = before.then(work)
    const settled = turn.catch(() => undefined)
    this.#turns.set(sha256, settled)
    try {
      await turn
    } finally {
      if (this.#turns.get(sha256) === settled) this.#turns.delete(sha256)
    }
  }

  async #record(act: string, job: StoredJob, entry: Entry): Promise<void> {
    await this.#deps.journal.transaction(async (tx) => this.#append(tx, act, job, entry))
  }

  #append(
    tx: JournalTransaction,
    act: string,
    job: StoredJob,
    { facts, result = 'success' }: Entry,
  ): void {
    const { ids, signal } = this.#deps
    const op: Op = {
      actor: { kind: 'system' },
      request_id: ids.next('req'),
      session_id: null,
      signal,
    }
    const { id, size_bytes } = payloadOf(job).entry
    tx.append(
      actDraft(op, act, { arguments: { id, job_id: job.id, size_bytes, ...facts }, result }),
    )
  }
}

type Entry = {
  readonly facts: Readonly<Record<string, unknown>>
  readonly result?: 'success' | 'error'
}
