import { GatehouseError } from '@gatehouse/contract'
import { cancel } from '../../domain/approvals/transition.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { type AgentOp, actorText } from '../call/op.ts'
import { announceChange } from './announce-change.ts'
import { requestFacts } from './approval-record.ts'
import type { ApprovalSignals } from './approval-signals.ts'

export type CancelDeps = Pick<Basics, 'auditLog' | 'clock' | 'events'> & {
  readonly signals: ApprovalSignals
}

/** An agent withdraws its own pending request. One that is already resolved stays as it is. */
export async function cancelApproval(
  op: AgentOp,
  deps: CancelDeps,
  input: { readonly approval_id: string },
): Promise<StoredApproval> {
  const { approval_id } = input
  const { approval, changed } = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.approvals.find(approval_id)
    if (current?.agent !== op.actor.name)
      throw new GatehouseError('ApprovalNotFound', { approval_id })
    if (current.status !== 'pending') return { approval: current, changed: false }
    const moment = { nowMs: deps.clock.now(), wallMs: deps.clock.wall() }
    const replaced = await tx.approvals.replace(
      current,
      cancel(current, moment, actorText(op.actor)),
    )
    if (replaced.changed)
      tx.append(
        actDraft(op, 'approval.cancelled', {
          agent: current.agent,
          arguments: requestFacts(current),
          approval_id,
        }),
      )
    return replaced
  })
  if (changed) announceChange(deps, approval)
  else if (approval.status !== 'cancelled')
    throw new GatehouseError('ApprovalNotPending', { approval_id, status: approval.status })
  return approval
}
