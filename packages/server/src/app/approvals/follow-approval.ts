import type {
  ApprovalId,
  ApprovalStatus,
  CapabilityResult,
  PendingApproval,
} from '@gatehouse/contract'
import { editNote, isResolved, resultOf } from '../../domain/approvals/outcome.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import { type AgentOp, isRead } from '../call/op.ts'
import { findOwnApproval } from './approval-outcomes.ts'
import { recordTold } from './record-delivery.ts'
import { toPending } from './request-approval.ts'

/** An approval as its agent follows it: how it stands, and what the call that was held would answer. */
export type FollowedApproval = {
  readonly approval_id: ApprovalId
  readonly capability: string
  readonly status: ApprovalStatus
  readonly requested_at: string
  readonly changed_at: string
  readonly expires_at: string
  readonly decision_reason: string | null
  /** The answer while there is no result. */
  readonly pending: PendingApproval
  /** The result, once nothing more will happen to the request; null before. */
  readonly result: CapabilityResult | null
  /** The text rendering of the result, where it has one. */
  readonly text: string | null
  /** Note to the agent beside the result: that a person changed the arguments. */
  readonly note: string | undefined
}

const iso = (ms: number): string => new Date(ms).toISOString()

const followed = (approval: StoredApproval): FollowedApproval => ({
  approval_id: approval.id as ApprovalId,
  capability: approval.capability,
  status: approval.status,
  requested_at: iso(approval.requested_ms),
  changed_at: iso(approval.decided_ms ?? approval.requested_ms),
  expires_at: iso(approval.expires_wall_ms),
  decision_reason: approval.decision_reason,
  pending: toPending(approval),
  result: isResolved(approval) ? resultOf(approval) : null,
  text: approval.result_text,
  note: approval.edit ? editNote : undefined,
})

/**
 * Shows how an approval of the agent stands. With `deliver` the result that is shown counts as delivered,
 * unless nobody reads the answer.
 */
export async function followApproval(
  op: AgentOp,
  deps: Pick<Basics, 'storage'>,
  input: { readonly approval_id: string; readonly deliver: boolean },
): Promise<FollowedApproval> {
  const { approval_id, deliver } = input
  const approval = await findOwnApproval(op, deps, approval_id)
  if (deliver && isRead(op)) await recordTold(deps.storage.approvals, approval)
  return followed(approval)
}
