import { GatehouseError } from '@gatehouse/contract'
import { failureOf } from '../../domain/failure.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredJob } from '../../ports/jobs.ts'
import type { Calendar, StoredSchedule } from '../../ports/schedules.ts'
import type { Stores } from '../../ports/storage.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { Basics } from '../call/basics.ts'
import type { Invoke, InvokeOutcome } from '../call/invoke.ts'
import type { AgentOp } from '../call/op.ts'
import { type JobKind, type JobVerdict, newJob } from './job-kind.ts'
import { type RunOutcome, type RunPayload, runOutcomeOf } from './schedule-record.ts'

export const scheduledCallKind = 'scheduled_call'

const attemptsMax = 5
const missedMax = 100
const resultBytesKept = 16_384
const runsKept = 200
const stalledAtOnce = 1_000
/** A person makes room for another request long before the oldest one expires. */
const pendingAgainMs = 600_000

export type ScheduledCallDeps = Pick<Basics, 'storage' | 'clock' | 'ids' | 'events'> & {
  readonly calendar: Calendar
  readonly directory: AgentDirectory
  /** The gate: there is no other way to a capability. */
  readonly invoke: Invoke
}

export const jobOf = (
  deps: Pick<Basics, 'ids' | 'clock'>,
  schedule: Pick<StoredSchedule, 'id' | 'agent'>,
  scheduled_ms: number,
): StoredJob =>
  newJob(deps, {
    kind: scheduledCallKind,
    subject: schedule.id,
    agent: schedule.agent,
    payload: { scheduled_ms } satisfies RunPayload,
    dueMs: scheduled_ms,
    attemptsMax,
  })

/** Ends a schedule and what waits of it, whatever it was about to do. */
export async function endSchedule(
  tx: Pick<Stores, 'schedules' | 'jobs'>,
  schedule: StoredSchedule,
  status: 'deleted' | 'stopped',
  ms: number,
): Promise<void> {
  await tx.schedules.replace(schedule, { ...schedule, status, next_ms: null, ended_ms: ms })
  await tx.jobs.cancelOf(schedule.id, ms)
}

/** A revoked agent makes no calls, so nothing of it waits for a time. */
export async function stopSchedulesOf(
  tx: Pick<Stores, 'schedules' | 'jobs'>,
  agent: string,
  ms: number,
): Promise<void> {
  for (;;) {
    const page = { agent, status: 'active', limit: 100, offset: 0 } as const
    const { schedules } = await tx.schedules.list(page)
    if (schedules.length === 0) return
    for (const schedule of schedules) await endSchedule(tx, schedule, 'stopped', ms)
  }
}

/** Null also where the zone is unknown here: what could not be stored for that would be tried for ever. */
const nextTime = (
  { calendar }: Pick<ScheduledCallDeps, 'calendar'>,
  { cron, time_zone }: StoredSchedule,
  afterMs: number,
): number | null => {
  if (cron === null) return null
  try {
    return calendar.next(cron, time_zone, afterMs)
  } catch (cause) {
    if (cause instanceof GatehouseError && cause.type === 'InvalidSchedule') return null
    throw cause
  }
}

/**
 * Puts the next time in place of the one that has come, once, whoever asks. Times that passed while nobody
 * could fire are skipped: the run under way stands for them all.
 */
async function advance(
  deps: Pick<ScheduledCallDeps, 'clock' | 'ids' | 'calendar'>,
  tx: Pick<Stores, 'schedules' | 'jobs'>,
  schedule: StoredSchedule,
  scheduledMs: number,
): Promise<void> {
  if (schedule.status !== 'active' || schedule.next_ms !== scheduledMs) return
  const wallMs = deps.clock.wall()
  const next_ms = nextTime(deps, schedule, Math.max(wallMs, scheduledMs))
  const next: StoredSchedule =
    next_ms === null
      ? { ...schedule, status: 'done', next_ms, ended_ms: wallMs }
      : { ...schedule, next_ms }
  if ((await tx.schedules.replace(schedule, next)) && next_ms !== null)
    await tx.jobs.insert(jobOf(deps, schedule, next_ms))
}

/**
 * Lets schedules go on that an earlier version left without a job. Any number of nodes may do so at once: each time
 * that has come is replaced once.
 */
export async function resumeStalled(
  deps: Pick<ScheduledCallDeps, 'storage' | 'clock' | 'ids' | 'calendar'>,
): Promise<void> {
  const { storage, clock } = deps
  for (const { id, next_ms } of await storage.schedules.listStalled(clock.wall(), stalledAtOnce))
    await storage.transaction(async (tx) => {
      const current = await tx.schedules.find(id)
      if (current && next_ms !== null) await advance(deps, tx, current, next_ms)
    })
}

const missedSince = (
  { calendar, clock }: ScheduledCallDeps,
  { cron, time_zone }: StoredSchedule,
  scheduledMs: number,
): number => {
  if (cron === null) return 0
  const wallMs = clock.wall()
  let missed = 0
  for (let at = calendar.next(cron, time_zone, scheduledMs); at !== null && at <= wallMs; ) {
    missed += 1
    if (missed >= missedMax) break
    at = calendar.next(cron, time_zone, at)
  }
  return missed
}

const kept = (data: Readonly<Record<string, unknown>>): object => {
  const text = JSON.stringify(data)
  return text.length <= resultBytesKept ? { data } : { data_omitted: true }
}

/** Consequence of the gate's outcome for the run: refused for now may come again, all else is an end. */
const toRunOutcome = (
  outcome: InvokeOutcome,
): { readonly again?: number; readonly end: Omit<RunOutcome, 'missed'> } => {
  switch (outcome.kind) {
    case 'succeeded':
      return { end: { outcome: 'succeeded', detail: { ...kept(outcome.data) } } }
    case 'failed':
      return { end: { outcome: 'failed', detail: { error: outcome.error } } }
    case 'pending': {
      const { approval_id } = outcome.pending
      return { end: { outcome: 'pending_approval', detail: { approval_id } } }
    }
    case 'denied':
      return { end: { outcome: 'denied', detail: { ...outcome.data, message: outcome.message } } }
    case 'unknown':
      return { end: { outcome: 'failed', detail: { message: outcome.error.message } } }
    case 'limited':
      return {
        again: outcome.data.reason ? pendingAgainMs : outcome.data.retry_after_seconds * 1000,
        end: { outcome: 'dropped', detail: { ...outcome.data, message: outcome.message } },
      }
    case 'overloaded':
      return {
        again: 5_000,
        end: { outcome: 'dropped', detail: { ...outcome.data, message: outcome.message } },
      }
  }
}

/**
 * Makes the calls that agents put off. Each goes through the gate as its agent stands when it fires, and
 * at most once: one whose end nobody knows is reported and left alone.
 */
export const scheduledCalls = (deps: ScheduledCallDeps): JobKind => {
  const { storage, clock, ids, events, directory } = deps

  const end = async (
    job: StoredJob,
    schedule: StoredSchedule | null,
    outcome: RunOutcome,
  ): Promise<JobVerdict> => {
    await storage.jobs.prune(0, { subject: job.subject, keep: runsKept })
    if (schedule) {
      const { id: schedule_id, agent, capability } = schedule
      const { approval_id } = outcome.detail
      events.publish({
        type: 'schedule.fired',
        agent,
        data: {
          schedule_id,
          run_id: job.id,
          capability,
          outcome: outcome.outcome,
          ...(approval_id === undefined ? {} : { approval_id }),
        },
      })
    }
    return { kind: 'done', outcome }
  }

  return {
    kind: scheduledCallKind,
    repeatable: false,

    async perform(job, signal) {
      const { scheduled_ms } = parseStored<RunPayload>(job.payload_json, 'jobs.payload_json')
      const schedule = await storage.schedules.find(job.subject)
      const dropped = (reason: string, missed = 0) =>
        end(job, schedule, { outcome: 'dropped', missed, detail: { reason } })
      if (!schedule || schedule.status === 'deleted' || schedule.status === 'stopped')
        return dropped(`the schedule is ${schedule?.status ?? 'gone'}`)
      const missed = runOutcomeOf(job).missed ?? missedSince(deps, schedule, scheduled_ms)
      await storage.transaction(async (tx) => {
        const current = await tx.schedules.find(schedule.id)
        if (current) await advance(deps, tx, current, scheduled_ms)
      })
      const agent = await directory.standIn(schedule.agent)
      if (!agent) {
        await storage.transaction((tx) => stopSchedulesOf(tx, schedule.agent, clock.wall()))
        return dropped('the agent is revoked', missed)
      }
      const request_id = ids.next('req')
      const op: AgentOp = {
        actor: { kind: 'agent', name: agent.name, credential: agent.credential },
        request_id,
        session_id: null,
        signal,
      }
      try {
        const { again, end: became } = toRunOutcome(
          await deps.invoke(op, {
            capability: schedule.capability,
            arguments: parseStored<unknown>(schedule.arguments_json, 'schedules.arguments_json'),
          }),
        )
        const outcome = { ...became, missed, detail: { request_id, ...became.detail } }
        return again === undefined
          ? await end(job, schedule, outcome)
          : { kind: 'again', afterMs: again, outcome }
      } catch (cause) {
        if (!(cause instanceof GatehouseError)) throw cause
        const detail = { request_id, error: failureOf(cause) }
        // A token that was rotated meanwhile stops the call before it runs; the next one is taken afresh.
        return cause.type === 'AuthenticationFailed'
          ? { kind: 'again', outcome: { outcome: 'dropped', missed, detail } }
          : await end(job, schedule, { outcome: 'failed', missed, detail })
      }
    },

    async lost(tx, job) {
      const { scheduled_ms } = parseStored<RunPayload>(job.payload_json, 'jobs.payload_json')
      const schedule = await tx.schedules.find(job.subject)
      if (schedule) await advance(deps, tx, schedule, scheduled_ms)
    },
  }
}
