import { type CapabilityError, GatehouseError, type ModelHeader } from '@gatehouse/contract'
import { failureOf } from '../../domain/failure.ts'
import { gradeFit } from '../../domain/models/fit.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { ModelFiles } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import type { JobVerdict } from '../time/job-kind.ts'
import { type ActiveInstall, type InstallOutcome, outcomeOf, payloadOf } from './model-jobs.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly files: ModelFiles
  readonly signal: AbortSignal
  /** Raises `NotEnoughDisk`. */
  readonly assertRoom: (job: StoredJob) => Promise<void>
  /** Whether an installed model other than `besides` has this file. */
  readonly isShared: (sha256: string, besides: string | null) => Promise<boolean>
}

type Entry = {
  readonly facts: Readonly<Record<string, unknown>>
  readonly result?: 'success' | 'error'
}

/** Runs in a row without a new byte before it is given up; what is here stays for the next request. */
const fruitlessMax = 8
const againMaxMs = 60_000
const progressSteps = 10

/** Failures that would come out the same again. */
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

const failureText = (cause: unknown): CapabilityError =>
  cause instanceof GatehouseError
    ? failureOf(cause)
    : { type: 'InternalError', message: 'The installation failed unexpectedly.', recovery: [] }

/** One run of an installation: what it does, and what becomes of the job. */
export class InstallRun {
  readonly #deps: Deps
  readonly #job: StoredJob
  readonly #active: ActiveInstall
  /** Signal of a cancellation, or of the end of the service. */
  readonly #signal: AbortSignal

  constructor(deps: Deps, job: StoredJob, active: ActiveInstall, stopping: AbortSignal) {
    this.#deps = deps
    this.#job = job
    this.#active = active
    this.#signal = AbortSignal.any([stopping, active.cancelled.signal])
  }

  /** Puts the file in its place and says so, or raises. */
  async install(): Promise<void> {
    const { files } = this.#deps
    const { entry } = payloadOf(this.#job)
    const kept = await this.#keptHeader()
    if (kept) return this.#publish(kept)
    await this.#deps.assertRoom(this.#job)
    const memory = await files.availableMemory()
    this.#active.fit = gradeFit(entry.size_bytes, null, memory)
    const telling = new Telling(
      (await files.partialBytes(entry.sha256)) / entry.size_bytes,
      (facts) => this.#record('model.install_progress', { facts }),
      (err) => this.#deps.log.warn({ err }, 'how far an installation is was not recorded'),
    )
    const header = await files.fetch(
      entry,
      (progress) => {
        this.#active.report(progress)
        if (progress.header && this.#active.fit?.basis !== 'header')
          this.#active.fit = gradeFit(entry.size_bytes, progress.header, memory)
        if (progress.phase === 'downloading')
          telling.at(progress.bytes, entry.size_bytes, this.#active.bytesPerSecond())
      },
      this.#signal,
    )
    await telling.told
    await this.#publish(header)
  }

  done(): JobVerdict {
    return this.#ended('done', payloadOf(this.#job).entry.size_bytes, null)
  }

  #ended(
    status: 'done' | 'failed' | 'cancelled',
    bytes: number,
    error: CapabilityError | null,
  ): JobVerdict {
    const { fit } = this.#active
    const outcome: InstallOutcome = { status, error, fruitless: 0, bytes, most: bytes, fit }
    return { kind: 'done', outcome }
  }

  /** Again where that may help, and later each time; otherwise the end of it. */
  async failed(cause: unknown, isStopping: boolean): Promise<JobVerdict> {
    const { entry } = payloadOf(this.#job)
    const { files, log } = this.#deps
    const { fit, cancelled } = this.#active
    const bytes = await files.partialBytes(entry.sha256)
    if (cancelled.signal.aborted) return this.#ended('cancelled', bytes, null)
    const before = outcomeOf(this.#job)
    const most = Math.max(before?.most ?? 0, bytes)
    const again = (afterMs: number, fruitless: number, error: CapabilityError | null) => {
      const outcome: InstallOutcome = { status: 'waiting', error, fruitless, bytes, most, fit }
      return { kind: 'again', afterMs, outcome } as const
    }
    if (isStopping) return again(0, before?.fruitless ?? 0, null)
    const error = failureText(cause)
    // A source that ignores ranges begins anew each time: only more than there ever was is new.
    const fruitless = most > (before?.most ?? 0) ? 1 : (before?.fruitless ?? 0) + 1
    const isFinal = cause instanceof GatehouseError && final.includes(cause.type)
    log.warn({ err: cause, model: entry.id, bytes, fruitless }, 'an installation did not get on')
    if (!isFinal && fruitless < fruitlessMax)
      return again(Math.min(1_000 * 2 ** (fruitless - 1), againMaxMs), fruitless, error)
    const facts = { error: error.type, message: error.message, downloaded_bytes: bytes }
    await this.#record('model.install_failed', { result: 'error', facts })
    return this.#ended('failed', bytes, error)
  }

  /** The file may be there already: another model has the same, or the service died before it said so. */
  async #keptHeader(): Promise<ModelHeader | null> {
    const { files } = this.#deps
    const { entry } = payloadOf(this.#job)
    if (!(await files.holds(entry))) return null
    const found = await files.hash(entry.sha256, this.#signal, (bytes) =>
      this.#active.report({ phase: 'verifying', bytes, header: null }),
    )
    if (found?.sha256 === entry.sha256) return files.header(entry)
    await files.reject(entry.sha256)
    return null
  }

  async #publish(header: ModelHeader): Promise<void> {
    const { auditLog, clock, node, files } = this.#deps
    const { entry, source, requested_by } = payloadOf(this.#job)
    const nowMs = clock.wall()
    let replaced: string | null = null
    await auditLog.transaction(async (tx) => {
      // Cancelled at the last moment: the file stays for the next time, and is not offered.
      if ((await tx.jobs.find(this.#job.id))?.state === 'cancelled')
        throw new GatehouseError('Cancelled')
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
      this.#append(tx, 'model.installed', { facts: { sha256: entry.sha256, requested_by } })
    })
    if (replaced !== null && !(await this.#deps.isShared(replaced, null)))
      await files.remove(replaced)
  }

  async #record(act: string, entry: Entry): Promise<void> {
    await this.#deps.auditLog.transaction(async (tx) => this.#append(tx, act, entry))
  }

  #append(tx: AuditTransaction, act: string, { facts, result = 'success' }: Entry): void {
    const { id, size_bytes } = payloadOf(this.#job).entry
    const known = { id, job_id: this.#job.id, size_bytes }
    tx.append(actDraft(systemOp(this.#deps), act, { arguments: { ...known, ...facts }, result }))
  }
}

/** Tells of each tenth once, in order, and never keeps the transfer waiting for it. */
class Telling {
  told: Promise<void> = Promise.resolve()
  #step: number
  readonly #tell: (facts: Entry['facts']) => Promise<void>
  readonly #failed: (cause: unknown) => void

  constructor(
    from: number,
    tell: (facts: Entry['facts']) => Promise<void>,
    failed: (cause: unknown) => void,
  ) {
    this.#step = Math.floor(from * progressSteps)
    this.#tell = tell
    this.#failed = failed
  }

  at(downloaded_bytes: number, size: number, bytes_per_second: number | null): void {
    const step = Math.floor((downloaded_bytes / size) * progressSteps)
    if (step <= this.#step || step >= progressSteps) return
    this.#step = step
    const percent = (step * 100) / progressSteps
    const facts = { percent, downloaded_bytes, bytes_per_second }
    this.told = this.told.then(() => this.#tell(facts)).catch(this.#failed)
  }
}
