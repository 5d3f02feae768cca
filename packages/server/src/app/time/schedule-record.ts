import type { Schedule, ScheduledOutcome, ScheduledRun } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { StoredSchedule } from '../../ports/schedules.ts'

const timeOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString()

export const scheduleRecord = (stored: StoredSchedule): Schedule => ({
  schedule_id: stored.id as Schedule['schedule_id'],
  agent: stored.agent as Schedule['agent'],
  capability: stored.capability,
  arguments: parseStored(stored.arguments_json, 'schedules.arguments_json'),
  schedule: stored.cron,
  time_zone: stored.time_zone,
  description: stored.description,
  status: stored.status,
  next_run_at: timeOrNull(stored.next_ms),
  created_at: new Date(stored.created_ms).toISOString(),
})

/** Payload of a job of a schedule: the time it stands for, which a repetition leaves as it is. */
export type RunPayload = { readonly scheduled_ms: number }

export type RunOutcome = {
  readonly outcome: ScheduledOutcome
  readonly missed: number
  readonly detail: Readonly<Record<string, unknown>>
}

export const runOutcomeOf = (job: StoredJob): Partial<RunOutcome> =>
  job.outcome_json === null
    ? {}
    : parseStored<Partial<RunOutcome>>(job.outcome_json, 'jobs.outcome_json')

const outcomeOf = (job: StoredJob): ScheduledOutcome => {
  switch (job.state) {
    case 'waiting':
    case 'running':
    case 'interrupted':
      return job.state
    case 'done':
      return runOutcomeOf(job).outcome ?? 'succeeded'
    case 'dead':
    case 'cancelled':
      return 'dropped'
  }
}

export const runRecord = (job: StoredJob): ScheduledRun => {
  const { scheduled_ms } = parseStored<RunPayload>(job.payload_json, 'jobs.payload_json')
  const { missed = 0, detail = {} } = runOutcomeOf(job)
  return {
    run_id: job.id,
    scheduled_for: new Date(scheduled_ms).toISOString(),
    started_at: timeOrNull(job.started_ms),
    finished_at: timeOrNull(job.finished_ms),
    late_seconds: Math.max(0, Math.floor(((job.started_ms ?? scheduled_ms) - scheduled_ms) / 1000)),
    missed,
    outcome: outcomeOf(job),
    detail: job.state === 'cancelled' ? { reason: 'cancelled' } : detail,
  }
}
