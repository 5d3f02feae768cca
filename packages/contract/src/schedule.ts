import { z } from 'zod'
import { AgentName, CapabilityName, ScheduleId, Timestamp } from './ids.ts'

/** `active` fires again; `done` has fired for the last time; `deleted` by somebody; `stopped` with its agent. */
export const ScheduleStatus = z.enum(['active', 'done', 'deleted', 'stopped'])
export type ScheduleStatus = z.infer<typeof ScheduleStatus>

/** A call that an agent put off. It runs as that agent, through the same gate as any call. */
export const Schedule = z.object({
  schedule_id: ScheduleId,
  agent: AgentName,
  capability: CapabilityName,
  arguments: z.record(z.string(), z.unknown()),
  /** Five cron fields, or null for a call that is made once. */
  schedule: z.string().nullable(),
  time_zone: z.string(),
  description: z.string(),
  status: ScheduleStatus,
  next_run_at: Timestamp.nullable(),
  created_at: Timestamp,
})
export type Schedule = z.infer<typeof Schedule>

export const ScheduleList = z.object({ schedules: z.array(Schedule), total: z.int() })
export type ScheduleList = z.infer<typeof ScheduleList>

/**
 * Outcome of one run. `interrupted`: the service died while it ran, so its effect is unknown and it is
 * not run again. `dropped`: nothing ran, and it was given up.
 */
export const ScheduledOutcome = z.enum([
  'waiting',
  'running',
  'succeeded',
  'failed',
  'pending_approval',
  'denied',
  'interrupted',
  'dropped',
])
export type ScheduledOutcome = z.infer<typeof ScheduledOutcome>

export const ScheduledRun = z.object({
  run_id: z.string(),
  scheduled_for: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  /** How long after its time it began: more than seconds when the service was down. */
  late_seconds: z.int(),
  /** Further times that passed meanwhile, for which this one run stands. */
  missed: z.int(),
  outcome: ScheduledOutcome,
  detail: z.record(z.string(), z.unknown()),
})
export type ScheduledRun = z.infer<typeof ScheduledRun>
