import { type Approval, GatehouseError } from '@gatehouse/contract'
import { decideTransition } from '../domain/approvals/transition.ts'
import type { StoredApproval } from '../ports/approvals.ts'
import { approvalRecord } from './approval-record.ts'
import type { ApprovalSignals } from './approval-signals.ts'
import { actDraft } from './audit-draft.ts'
import type { Basics } from './deps.ts'
import { actorText, type Op } from './op.ts'
import { settle } from './settle-approval.ts'

export type DecideDeps = Pick<Basics, 'journal' | 'clock' | 'events'> & {
  readonly signals: ApprovalSignals
  /** Runs what was approved, soon and at most once. */
  readonly execute: (approval_id: string) => void
}

export type DecideInput = {
  readonly approval_id: string
  readonly decision: 'approve' | 'reject'
  readonly digest?: string
  readonly reason?: string
}

type Outcome = { readonly kind: 'decided' | 'not_pending'; readonly approval: Approval }
type Step = { readonly kind: Outcome['kind'] | 'expired'; readonly approval: StoredApproval }

/** Of two people who decide at once, the second is shown what the first decided. */
export async function decideApproval(
  op: Op,
  deps: DecideDeps,
  input: DecideInput,
): Promise<Outcome> {
  const step = await deps.journal.transaction(async (tx): Promise<Step> => {
    const { approval_id } = input
    const current = await tx.approvals.find(approval_id)
    if (!current) throw new GatehouseError('ApprovalNotFound', { approval_id })
    const request = {
      decision: input.decision,
      digest: input.digest,
      reason: input.reason,
      by: actorText(op.actor),
    }
    const verdict = decideTransition(current, request, {
      nowMs: deps.clock.now(),
      wallMs: deps.clock.wall(),
    })
    switch (verdict.kind) {
      case 'not_pending':
        return { kind: 'not_pending', approval: current }
      case 'digest_mismatch':
      case 'digest_required':
        throw new GatehouseError('ApprovalDigestMismatch', { approval_id, digest: current.digest })
      case 'expired':
      case 'changed': {
        const { changed, approval } = await tx.approvals.replace(current, verdict.next)
        if (!changed) return { kind: 'not_pending', approval }
        const { status, agent } = approval
        tx.append(
          actDraft(op, `approval.${status}`, {
            agent,
            arguments: { approval_id, capability: approval.capability, digest: approval.digest },
            approval_id,
            result: status === 'approved' ? 'success' : 'rejected',
            detail: input.reason === undefined ? {} : { reason: input.reason },
          }),
        )
        return { kind: verdict.kind === 'expired' ? 'expired' : 'decided', approval }
      }
    }
  })
  if (step.kind !== 'not_pending') settle(deps, step.approval)
  if (step.kind === 'decided' && step.approval.status === 'approved') deps.execute(step.approval.id)
  return {
    kind: step.kind === 'decided' ? 'decided' : 'not_pending',
    approval: approvalRecord(step.approval),
  }
}
