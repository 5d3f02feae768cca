import type {
  CapabilityError,
  ModelEntry,
  ModelFit,
  ModelHeader,
  ModelJob,
  ModelJobPhase,
  ModelSource,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { FileProgress } from '../../ports/models.ts'

/** Model as it was asked for: a catalog that changes meanwhile changes nothing of it. */
export type InstallPayload = {
  readonly entry: ModelEntry
  readonly source: ModelSource
  readonly requested_by: string
}

/** Outcome of a run, for the next one and for people. */
export type InstallOutcome = {
  readonly status: 'waiting' | 'done' | 'failed' | 'cancelled'
  readonly error: CapabilityError | null
  /** Runs in a row that brought nothing new. */
  readonly fruitless: number
  /** Bytes of the file now, and the most that there ever were. */
  readonly bytes: number
  readonly most: number
  readonly fit: ModelFit | null
}

export const subjectPrefix = 'model:'
/** A file lies on one node: what another one installs is another installation. */
export const subjectOf = (node: string, id: string): string => `${subjectPrefix}${node}:${id}`
export const payloadOf = (job: StoredJob): InstallPayload =>
  parseStored(job.payload_json, 'jobs.payload_json')
export const outcomeOf = (job: StoredJob): InstallOutcome | null =>
  job.outcome_json === null
    ? null
    : parseStored<InstallOutcome>(job.outcome_json, 'jobs.outcome_json')
export const isUnderWay = ({ state }: StoredJob): boolean =>
  state === 'waiting' || state === 'running'

const rateOverMs = 5_000

/** An installation that runs in this process: how far it is, how fast, and how to end it. */
export class ActiveInstall {
  readonly cancelled = new AbortController()
  phase: FileProgress['phase'] | 'checking' = 'checking'
  bytes = 0
  header: ModelHeader | null = null
  fit: ModelFit | null = null
  readonly #clock: Pick<Clock, 'now'>
  #samples: { readonly atMs: number; readonly bytes: number }[] = []

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  report({ phase, bytes, header }: FileProgress): void {
    if (phase !== this.phase || bytes < this.bytes) this.#samples = []
    this.phase = phase
    this.bytes = bytes
    this.header = header ?? this.header
    const atMs = this.#clock.now()
    const last = this.#samples.at(-1)
    if (last && atMs - last.atMs < 100) return
    this.#samples.push({ atMs, bytes })
    while (this.#samples.length > 2 && atMs - (this.#samples[0]?.atMs ?? atMs) > rateOverMs)
      this.#samples.shift()
  }

  /** Over the last seconds; null while there is nothing to tell it from. */
  bytesPerSecond(): number | null {
    const first = this.#samples[0]
    const ms = first ? this.#clock.now() - first.atMs : 0
    return first && ms > 0 ? Math.round(((this.bytes - first.bytes) * 1000) / ms) : null
  }
}

const statusOf = (job: StoredJob): ModelJob['status'] => {
  if (job.state === 'waiting' || job.state === 'running' || job.state === 'cancelled')
    return job.state
  const status = outcomeOf(job)?.status
  return job.state === 'done' && status !== undefined && status !== 'waiting' ? status : 'failed'
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const phaseOf = (status: ModelJob['status'], running: ActiveInstall | undefined): ModelJobPhase => {
  if (status === 'waiting') return 'waiting'
  return status === 'running' ? (running?.phase ?? 'checking') : 'ended'
}

/** How far it is, and how long the rest takes at the pace of the last seconds. */
function progressOf(
  total_bytes: number,
  downloaded_bytes: number,
  running: ActiveInstall | undefined,
): Pick<
  ModelJob,
  'downloaded_bytes' | 'total_bytes' | 'percent' | 'bytes_per_second' | 'eta_seconds'
> {
  const bytes_per_second = running?.phase === 'downloading' ? running.bytesPerSecond() : null
  const left = total_bytes - downloaded_bytes
  return {
    downloaded_bytes,
    total_bytes,
    percent: Math.floor((downloaded_bytes / total_bytes) * 1000) / 10,
    bytes_per_second,
    eta_seconds: bytes_per_second ? Math.ceil(left / bytes_per_second) : null,
  }
}

/** A job as people see it. `partialBytes` is what lies on the disk of it. */
export function jobRecord(
  job: StoredJob,
  active: ActiveInstall | undefined,
  partialBytes: number,
): ModelJob {
  const { entry } = payloadOf(job)
  const outcome = outcomeOf(job)
  const status = statusOf(job)
  const total_bytes = entry.size_bytes
  const running = status === 'running' ? active : undefined
  const downloaded_bytes =
    status === 'done' ? total_bytes : Math.min(total_bytes, running?.bytes || partialBytes)
  return {
    id: job.id,
    model_id: entry.id,
    status,
    phase: phaseOf(status, running),
    ...progressOf(total_bytes, downloaded_bytes, running),
    attempts: job.attempts,
    next_attempt_at: status === 'waiting' && job.attempts > 0 ? iso(job.due_ms) : null,
    error: status === 'done' || status === 'cancelled' ? null : (outcome?.error ?? null),
    fit: running?.fit ?? outcome?.fit ?? null,
    created_at: new Date(job.created_ms).toISOString(),
    finished_at: iso(job.finished_ms),
  }
}
