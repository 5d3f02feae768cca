import { z } from 'zod'
import { Timestamp } from './ids.ts'
import { UnlistedEntries } from './unlisted-entries.ts'

const counts = z.array(z.int())
const milliseconds = z.array(z.int().nullable())

/**
 * Numbers of calls over time. A call counts once, when its end was recorded or, where it waits for a person, when it
 * was made; how that one's run ended counts when it did.
 */
export const Figures = z.object({
  from: Timestamp,
  /** Exclusive. */
  to: Timestamp,
  step_seconds: z.int(),
  /** When each part begins. The lists below have a value for each; the last part may be shorter. */
  times: z.array(Timestamp),
  calls: counts,
  /** Refused by policy, because the agent may not, or because something changed since the approval. */
  denied: counts,
  failed: counts,
  /** Calls that wait or waited for a person. */
  held: counts,
  /** Refused by a limit, or because too much was going on. */
  limited: counts,
  /** Of the calls that ran; null where none did. Less than 1 % off. */
  duration_p50_ms: milliseconds,
  duration_p95_ms: milliseconds,
  /** From request to decision, by the time of the decision; null where a person decided nothing. */
  approval_wait_p50_ms: milliseconds,
  /** Capabilities with the most calls, at most 20. */
  by_capability: z.array(
    z.object({ capability: z.string(), calls: z.int(), failed: z.int(), denied: z.int() }),
  ),
  /** The same. */
  by_agent: z.array(
    z.object({
      agent: z.string(),
      calls: z.int(),
      failed: z.int(),
      denied: z.int(),
      held: z.int(),
    }),
  ),
  /** Uses of groups of capabilities and services by agents; those with the most calls, at most 200. */
  edges: z.array(
    z.object({
      agent: z.string(),
      group: z.string(),
      /** The connected service, such as a mailbox; null where the calls used none. */
      service: z.string().nullable(),
      calls: z.int(),
      denied: z.int(),
      held: z.int(),
    }),
  ),
  /** Absent where nothing that is there is left out. */
  not_listed: z.array(UnlistedEntries).optional(),
})
export type Figures = z.infer<typeof Figures>
