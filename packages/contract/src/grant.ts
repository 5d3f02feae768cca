import { z } from 'zod'
import { AgentName, ApprovalId, CapabilityName, GrantId, Timestamp } from './ids.ts'

/** Later calls that a grant lets run: the identical ones, or all of the capability. */
export const GrantMatch = z.enum(['same_arguments', 'same_capability'])
export type GrantMatch = z.infer<typeof GrantMatch>

/** How an approval is remembered: for at most a day, and for a number of calls where one is named. */
export const Remember = z.strictObject({
  ttl_seconds: z.int().min(1).max(86_400),
  match: GrantMatch,
  uses: z.int().min(1).max(1_000_000).optional(),
})
export type Remember = z.infer<typeof Remember>

/** `void`: the capability is not any more what it was when somebody approved it. */
export const GrantStatus = z.enum(['active', 'expired', 'used_up', 'revoked', 'void'])
export type GrantStatus = z.infer<typeof GrantStatus>

/** A standing grant: calls that would ask run without asking again, each of them on record. */
export const Grant = z.object({
  id: GrantId,
  agent: AgentName,
  capability: CapabilityName,
  match: GrantMatch,
  /** The arguments that `same_arguments` means, else null. */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  /** The request whose approval was remembered. */
  approval_id: ApprovalId,
  status: GrantStatus,
  created_at: Timestamp,
  created_by: z.string(),
  expires_at: Timestamp,
  /** How many calls it is good for; null = any number until it expires. */
  uses: z.int().nullable(),
  used: z.int(),
  last_used_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  revoked_by: z.string().nullable(),
})
export type Grant = z.infer<typeof Grant>

export const GrantList = z.object({ grants: z.array(Grant), total: z.int() })
export type GrantList = z.infer<typeof GrantList>
