import { z } from 'zod'
import { CapabilityResult, Effect, Preview, SideEffect } from './capability.ts'
import { Remember } from './grant.ts'
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

/**
 * A person approved other arguments than those asked for. What ran is a request of its own, under its
 * own digest; the agent waits on the original and gets the result there.
 */
export const ApprovalEdit = z.object({
  original: ApprovalId,
  request: ApprovalId,
  /** As the person wrote them. */
  decided: z.record(z.string(), z.unknown()),
  /** The same with the defaults filled in: what runs. */
  effective: z.record(z.string(), z.unknown()),
})
export type ApprovalEdit = z.infer<typeof ApprovalEdit>

/** Consequences of a call, and how to undo it, by the definition of its capability as it is now. Bound by no digest. */
export const Consequences = z.object({
  effect: Effect,
  side_effects: z.array(SideEffect),
  held_seconds: z
    .number()
    .nullable()
    .describe('A buffered write is held for so long, and can be cancelled until then; else null.'),
  undo: z
    .string()
    .nullable()
    .describe('How it is undone once it has run; null where it cannot be.'),
  sandboxed: z
    .boolean()
    .nullable()
    .describe('Whether the program that it starts runs in the sandbox; null where it starts none.'),
})
export type Consequences = z.infer<typeof Consequences>

export const Approval = z.object({
  id: ApprovalId,
  agent: AgentName,
  capability: CapabilityName,
  /** The arguments of the call as they were sent. */
  arguments: z.record(z.string(), z.unknown()),
  /** The same with the defaults filled in: exactly what will run. */
  effective_arguments: z.record(z.string(), z.unknown()),
  /** `sha256:<hex>` of the canonical object: effective arguments and everything they resolve to. */
  digest: z.string(),
  requested_at: Timestamp,
  expires_at: Timestamp,
  status: ApprovalStatus,
  /** Of a pending request: what has changed since it was made. Approving it is refused. */
  stale: z.string().nullable(),
  session_id: SessionId.nullable(),
  /** The reason that the rule gives. */
  reason: z.string().nullable(),
  /** Why the agent made the call, in its own words: shown to people, checked by nobody, bound by no digest. */
  agent_reason: z.string().nullable(),
  rule: RuleRef.nullable(),
  critical: z.boolean(),
  preview: Preview.nullable(),
  /** Null where the capability is not there any more. */
  consequences: Consequences.nullable(),
  decided_at: Timestamp.nullable(),
  decided_by: z.string().nullable(),
  decision_reason: z.string().nullable(),
  execution: z.object({ state: ExecutionState, result: CapabilityResult.optional() }),
  /** On both requests where a person changed the arguments. */
  edit: ApprovalEdit.optional(),
})
export type Approval = z.infer<typeof Approval>

export const ApprovalList = z.object({ approvals: z.array(Approval), total: z.int() })
export type ApprovalList = z.infer<typeof ApprovalList>

export const ApproveBody = z.strictObject({
  /** The digest that the person was shown; a mismatch is a 409. Required for critical capabilities. */
  digest: z.string().optional(),
  reason: z.string().max(2000).optional(),
  /** Lets later calls run without asking again. Never for critical capabilities. */
  remember: Remember.optional(),
  /** Runs with these arguments, all of them, in place of those asked for. Not together with `remember`. */
  arguments: z.record(z.string(), z.unknown()).optional(),
})
export type ApproveBody = z.infer<typeof ApproveBody>

export const RejectBody = z.strictObject({ reason: z.string().max(2000).optional() })
export type RejectBody = z.infer<typeof RejectBody>

/** One decision on many requests. `digests` are those that the person was shown, by id. */
export const DecideBody = z.strictObject({
  ids: z.array(z.string().min(1).max(256)).min(1).max(100),
  decision: z.enum(['approve', 'reject']),
  reason: z.string().max(2000).optional(),
  digests: z.record(z.string(), z.string()).optional(),
})
export type DecideBody = z.infer<typeof DecideBody>

/** Outcome for each approval, in the order asked for, with the record as it then stood. */
export const DecideOutcome = z.object({
  id: z.string(),
  outcome: z.enum([
    'decided',
    'not_pending',
    'not_found',
    'digest_mismatch',
    'digest_required',
    'login_too_old',
    'stale',
  ]),
  approval: Approval.optional(),
})
export type DecideOutcome = z.infer<typeof DecideOutcome>

export const DecideOutcomes = z.object({ outcomes: z.array(DecideOutcome) })
export type DecideOutcomes = z.infer<typeof DecideOutcomes>

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
  /** Only of `approvals.get`: the arguments as they were sent, and with the defaults filled in. */
  arguments: z.record(z.string(), z.unknown()).optional(),
  effective_arguments: z.record(z.string(), z.unknown()).optional(),
  result: CapabilityResult.optional(),
  /** Set where a person changed the arguments: what was run in place of what was asked for. */
  edited: z.object({ arguments: z.record(z.string(), z.unknown()), note: z.string() }).optional(),
})
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>
