import { isResolved, outcomeOf } from '../../domain/approvals/outcome.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import type { ApprovalSignals } from './approval-signals.ts'

/** Tells waiters and people that an approval changed, and its agent once nothing more will happen to it. */
export const announceChange = (
  deps: Pick<Basics, 'events'> & { readonly signals: ApprovalSignals },
  approval: StoredApproval,
): void => {
  deps.signals.emit(approval)
  // The agent knows the request that it made, not the one that ran in its place.
  if (!isResolved(approval) || approval.edit?.request === approval.id) return
  deps.events.publish({
    type: 'approval.resolved',
    agent: approval.agent,
    data: { ...outcomeOf(approval), capability: approval.capability, text: approval.result_text },
  })
}
