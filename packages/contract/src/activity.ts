import { z } from 'zod'
import { AuditResult } from './audit.ts'
import { PolicyDecision } from './capability.ts'
import { Timestamp } from './ids.ts'
import { UnlistedEntries } from './unlisted-entries.ts'

/**
 * Events for people who watch: one event for each call that ended, for each approval
 * asked for and decided, session, change of an agent or of policy, alert. Made from the audit log.
 */
export const ActivityEvent = z.object({
  /** The audit entry that says so. */
  id: z.string(),
  /** `capability_invoked`, or the act with `_` for `.`: `approval_approved`, `agent_paused`, … */
  type: z.string(),
  timestamp: Timestamp,
  /** Empty where it is about no agent. */
  agent: z.string(),
  /** Empty where it is about no capability. */
  capability: z.string(),
  /** Object of the event, in a line: the path, the host, the command, the recipients. May be empty. */
  object: z.string(),
  success: z.boolean(),
  /** 0 for what took no time of its own: acts, and calls that were refused. */
  duration_ms: z.int(),
  result: AuditResult,
  policy_decision: PolicyDecision,
  /** `agent:NAME`, `user:LABEL`, `system`. */
  actor: z.string(),
  session_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  /** The type of the failure, where it is one. */
  error: z.string().nullable(),
  /** For what happens to a local model: which, and how far its installation is. */
  model: z
    .object({
      id: z.string(),
      job_id: z.string().optional(),
      percent: z.number().optional(),
      downloaded_bytes: z.int().optional(),
      size_bytes: z.int().optional(),
      bytes_per_second: z.int().nullable().optional(),
    })
    .optional(),
})
export type ActivityEvent = z.infer<typeof ActivityEvent>

export const ActivityPage = z.object({
  events: z.array(ActivityEvent),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  /** Absent where nothing that is there is left out. */
  not_listed: z.array(UnlistedEntries).optional(),
})
export type ActivityPage = z.infer<typeof ActivityPage>
