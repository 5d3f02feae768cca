import { GatehouseError, type ModelEntry, type ModelJob } from '@gatehouse/contract'
import type { OfferedModel } from '../../domain/models/merge-models.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { ModelFiles } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { Hearers } from '../call/hearers.ts'
import { actorText, type Op } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { type JobKind, type JobVerdict, newJob } from '../time/job-kind.ts'
import { JobRunner } from '../time/job-runner.ts'
import { InstallRun } from './model-install-run.ts'
import {
  ActiveInstall,
  type InstallPayload,
  isUnderWay,
  jobRecord,
  outcomeOf,
  payloadOf,
  subjectOf,
  subjectPrefix,
} from './model-jobs.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly files: ModelFiles
  readonly signal: AbortSignal
}

/** A kill costs a run, and nothing is lost by many. */
const attemptsMax = 1_000_000
const jobsKept = 20
const tellEveryMs = 1_000

/** Ids sort by creation; due times do not, as those that waited for a retry show. */
const findNewest = (jobs: readonly StoredJob[]): StoredJob | null =>
  jobs.reduce<StoredJob | null>(
    (newest, job) => (newest && newest.id > job.id ? newest : job),
    null,
  )

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
  readonly #hearers = new Hearers<ModelJob>()
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

  /** Tells how far installations are, and how each ended. */
  subscribe(hear: (job: ModelJob) => void): Disposable {
    return this.#hearers.add(hear)
  }

  /** The last installation of a model, or null. */
  async last(id: string): Promise<StoredJob | null> {
    const page = { limit: jobsKept + 1, offset: 0 }
    const { jobs } = await this.#deps.storage.jobs.listOf(subjectOf(this.#deps.node, id), page)
    return jobs.find(isUnderWay) ?? findNewest(jobs)
  }

  async find(job_id: string): Promise<ModelJob> {
    const job = await this.#deps.storage.jobs.find(job_id)
    if (!job?.subject.startsWith(subjectPrefix)) throw new GatehouseError('JobNotFound', { job_id })
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
    const { auditLog, files, clock, node } = this.#deps
    const running = await this.last(entry.id)
    if (!running || !isUnderWay(running))
      if (!(await files.holds(entry))) await this.#assertRoom(entry)
    const payload: InstallPayload = { entry, source, requested_by: actorText(op.actor) }
    const job = await auditLog.transaction(async (tx) => {
      const { jobs } = await tx.jobs.listOf(subjectOf(node, entry.id), {
        limit: jobsKept + 1,
        offset: 0,
      })
      const under = jobs.find(isUnderWay)
      if (under) return under
      const made = newJob(this.#deps, {
        kind: this.#kindName,
        subject: subjectOf(node, entry.id),
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

  /** Fetched bytes stay, and the next installation goes on from them. */
  async cancel(op: Op, id: string): Promise<ModelJob> {
    const { auditLog, clock, node } = this.#deps
    const cancelled = await auditLog.transaction(async (tx) => {
      const { jobs } = await tx.jobs.listOf(subjectOf(node, id), { limit: jobsKept + 1, offset: 0 })
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
      // Only time was lost: a start goes on at once.
      afterLossMs: 0,
      perform: (job, signal) => this.#perform(job, signal),
      ended: (job) => {
        this.#tell(job).catch((err: unknown) =>
          this.#deps.log.warn({ err }, 'how an installation ended was not told'),
        )
      },
    }
  }

  async #perform(job: StoredJob, signal: AbortSignal): Promise<JobVerdict> {
    const active = new ActiveInstall(this.#deps.clock)
    this.#active.set(job.id, active)
    const deps = {
      ...this.#deps,
      assertRoom: (own: StoredJob) => this.#assertRoom(payloadOf(own).entry, own.id),
      isShared: (sha256: string, besides: string | null) => this.isShared(sha256, besides),
    }
    const run = new InstallRun(deps, job, active, signal)
    const telling = this.#tellOn(job)
    try {
      await this.#inTurn(payloadOf(job).entry.sha256, () => run.install())
      await this.#deps.storage.jobs.prune(0, { subject: job.subject, keep: jobsKept })
      return run.done()
    } catch (cause) {
      return await run.failed(cause, signal.aborted)
    } finally {
      await telling[Symbol.asyncDispose]()
      this.#active.delete(job.id)
    }
  }

  async #tell(job: StoredJob): Promise<void> {
    if (this.#hearers.any) this.#hearers.tell(await this.record(job))
  }

  /** Tells how far a run is, also while no byte comes, until it is disposed. */
  #tellOn(job: StoredJob): AsyncDisposable {
    const ended = new AbortController()
    const telling = new PollLoop(
      { ...this.#deps, signal: ended.signal },
      {
        name: 'telling how far an installation is',
        everyMs: tellEveryMs,
        look: () => this.#tell(job),
      },
    )
    telling.start()
    return {
      async [Symbol.asyncDispose]() {
        ended.abort()
        await telling.stopped()
      },
    }
  }

  /** Whether an installed model other than `besides` has this file. */
  async isShared(sha256: string, besides: string | null): Promise<boolean> {
    const all = await this.#deps.storage.models.list(this.#deps.node)
    return all.some((model) => model.sha256 === sha256 && model.id !== besides)
  }

  /** Counts only what is left of it, and what others under way will still write. */
  async #assertRoom(
    { id, sha256, size_bytes }: Pick<ModelEntry, 'id' | 'sha256' | 'size_bytes'>,
    ownJob: string | null = null,
  ): Promise<void> {
    const { files, storage } = this.#deps
    const needed_bytes = size_bytes - Math.min(size_bytes, await files.partialBytes(sha256))
    let free_bytes = await files.freeBytes()
    // Of two that do not both fit, the earlier one goes on.
    const earlier = [...this.#active.keys()].filter((id) => ownJob === null || id < ownJob)
    for (const job_id of earlier) {
      const job = await storage.jobs.find(job_id)
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
    const ended = turn.catch(() => undefined)
    this.#turns.set(sha256, ended)
    try {
      await turn
    } finally {
      if (this.#turns.get(sha256) === ended) this.#turns.delete(sha256)
    }
  }
}
