import type { AuditTransaction } from '../../ports/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { StoredJob } from '../../ports/jobs.ts'

/** `again`: nothing happened that may not happen twice. Without `afterMs` it waits longer each time. */
export type JobVerdict =
  | { readonly kind: 'done'; readonly outcome: object }
  | { readonly kind: 'again'; readonly afterMs?: number; readonly outcome: object }

/** Kind of job: who performs it, and what may be done with a run whose end nobody knows. */
export type JobKind = {
  readonly kind: string
  /** Whether a run that died or threw is repeated. Where false it is reported, and that was it. */
  readonly repeatable: boolean
  /** How long a run that died is waited for before it is repeated; longer each time unless said. */
  readonly afterLossMs?: number
  perform(job: StoredJob, signal: AbortSignal): Promise<JobVerdict>
  /** Joins the transaction that reports a run which died or threw, so that what should follow it still does. */
  lost?(tx: AuditTransaction, job: StoredJob): Promise<void>
  /** Hears of the end of a run once it is stored: the job as it is from then on. */
  ended?(job: StoredJob): void
}

/** A job that waits for its time. Insert it with what it belongs to, then `nudge` the runner. */
export const newJob = (
  deps: { readonly ids: Ids; readonly clock: Clock },
  job: {
    readonly kind: string
    readonly subject: string
    readonly agent: string
    readonly payload: object
    readonly dueMs: number
    readonly attemptsMax: number
  },
): StoredJob => ({
  id: deps.ids.next('job'),
  kind: job.kind,
  subject: job.subject,
  agent: job.agent,
  payload_json: JSON.stringify(job.payload),
  state: 'waiting',
  due_ms: job.dueMs,
  attempts: 0,
  attempts_max: job.attemptsMax,
  owner: null,
  lease_ms: null,
  created_ms: deps.clock.wall(),
  started_ms: null,
  finished_ms: null,
  outcome_json: null,
})
