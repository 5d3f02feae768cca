import { z } from 'zod'
import { CapabilityResult, Preview } from './capability.ts'
import { AgentName, ApprovalId, CapabilityName, SessionId, Timestamp } from './ids.ts'
import { RuleRef } from './policy.ts'

export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled'])
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

/**
 * `waiting` (nothing ran yet) → `running` → `succeeded` | `failed`; `refused` = something changed
 * between decision and execution; `interrupted` = the service died meanwhile, and it never runs again.
 */
export const ExecutionState = z.enum([
  'waiting',
  'running',
  'succeeded',
  'failed',
  'refused',
  'interrupted',
])
export type ExecutionState = z.infer<typeof ExecutionState>

export const Approval = z.object({
  id: ApprovalId,
  agent: AgentName,
  capability: CapabilityName,
  /** The frozen arguments, defaults filled in, exactly as they will run. */
  arguments: z.record(z.string(), z.unknown()),
  /** `sha256:<hex>` of the canonical object: arguments and everything they resolve to. */
  digest: z.string(),
  requested_at: Timestamp,
  expires_at: Timestamp,
  status: ApprovalStatus,
  session_id: SessionId.nullable(),
  /** The reason that the rule gives. */
  reason: z.string().nullable(),
  rule: RuleRef.nullable(),
  critical: z.boolean(),
  preview: Preview.nullable(),
  decided_at: Timestamp.nullable(),
  decided_by: z.string().nullable(),
  decision_reason: z.string().nullable(),
  execution: z.object({ state: ExecutionState, result: CapabilityResult.optional() }),
})
export type Approval = z.infer<typeof Approval>

export const ApproveBody = z.strictObject({
  /** The digest that the person was shown; a mismatch is a 409. Required for critical capabilities. */
  digest: z.string().optional(),
  reason: z.string().max(2000).optional(),
})
export type ApproveBody = z.infer<typeof ApproveBody>

export const RejectBody = z.strictObject({ reason: z.string().max(2000).optional() })
export type RejectBody = z.infer<typeof RejectBody>

/** The answer to a call that waits for a person. */
export const PendingApproval = z.object({
  status: z.literal('pending_approval'),
  approval_id: ApprovalId,
  capability: CapabilityName,
  message: z.string(),
  expires_at: Timestamp,
})
export type PendingApproval = z.infer<typeof PendingApproval>

/** The answer of `approvals.get` and `approvals.wait`. */
export const ApprovalOutcome = z.object({
  approval_id: ApprovalId,
  status: ApprovalStatus,
  result: CapabilityResult.optional(),
})
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>
