import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** Pause of the whole service: no agent makes a call, and one that is created or restored meanwhile is paused too. */
export const ServicePause = z.object({
  paused: z.boolean(),
  /** Reason of the person who paused it; empty where nothing was said. */
  reason: z.string(),
  /** Null where the service is not paused. */
  paused_by: z.string().nullable(),
  since: Timestamp.nullable(),
  /** Agents that come back when it is resumed: those that somebody paused by name are not among them. */
  agents: z.array(z.string()),
})
export type ServicePause = z.infer<typeof ServicePause>

export const PauseAll = z.strictObject({
  /** For people: agents are not told. */
  reason: z.string().max(2000).default(''),
})
export type PauseAll = z.infer<typeof PauseAll>

export const ResumeAll = z.strictObject({
  /** Only these agents; the service stays paused for the others. Every one of them without it. */
  agents: z.array(z.string().min(1).max(256)).min(1).max(1000).optional(),
})
export type ResumeAll = z.infer<typeof ResumeAll>

/** Agents that pausing or resuming everything changed, and how the service stands after it. */
export const PausedAgents = z.object({
  agents: z.array(z.string()),
  count: z.int(),
  pause: ServicePause,
})
export type PausedAgents = z.infer<typeof PausedAgents>
