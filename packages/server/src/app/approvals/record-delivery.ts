import type { GatehouseEvent } from '@gatehouse/contract'
import { isResolved } from '../../domain/approvals/outcome.ts'
import type { ApprovalStore, StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'

type Deps = Pick<Basics, 'storage'>

/**
 * Records that the agent has the outcome, before the answer that carries it leaves: a later identical
 * call is a new call. The answer fails where this cannot be stored.
 */
export async function recordDelivery(
  approvals: Pick<ApprovalStore, 'replace'>,
  approval: StoredApproval,
): Promise<void> {
  let current = approval
  while (isResolved(current) && current.delivered !== 'yes') {
    const delivered = { ...current, delivered: 'yes' as const }
    const replaced = await approvals.replace(current, delivered)
    if (replaced.changed) return
    current = replaced.approval
  }
}

/**
 * Records that the agent was told of the outcome, other than by an answer to the call itself. What a client asked to do
 * by itself is left: its permission is for the same use again, and whoever reads of it has not used it.
 */
export async function recordTold(
  approvals: Pick<ApprovalStore, 'replace'>,
  approval: StoredApproval,
): Promise<void> {
  if (!approval.capability.startsWith('client.')) await recordDelivery(approvals, approval)
}

/** The approval whose outcome an event carries, or null. */
export const resolvedApproval = ({ type, data }: GatehouseEvent): string | null =>
  type === 'approval.resolved' && typeof data['approval_id'] === 'string'
    ? data['approval_id']
    : null

/** Records the outcomes among events that an agent asked for. */
export async function recordPolled(deps: Deps, events: readonly GatehouseEvent[]): Promise<void> {
  for (const event of events) {
    const id = resolvedApproval(event)
    const approval = id === null ? null : await deps.storage.approvals.find(id)
    if (approval) await recordTold(deps.storage.approvals, approval)
  }
}
