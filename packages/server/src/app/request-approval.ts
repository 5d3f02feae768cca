import { type ApprovalId, GatehouseError, type PendingApproval } from '@gatehouse/contract'
import { editNote, isSettled, resultOf } from '../domain/approvals/outcome.ts'
import { failureOf } from '../domain/failure.ts'
import type { StoredApproval } from '../ports/approvals.ts'
import type { JournalTransaction } from '../ports/audit.ts'
import type { LimitStamp } from '../ports/limits.ts'
import type { InvokeOutcome } from './app.ts'
import { type ApprovalWaitDeps, holdUntilSettled } from './approval-outcomes.ts'
import { type BindDeps, bindRequest } from './bind-request.ts'
import { type Call, callDraft } from './call.ts'
import type { Basics } from './deps.ts'

const pendingMax = 100

export type RequestDeps = Basics & ApprovalWaitDeps & BindDeps

type Found =
  | { readonly kind: 'asked' | 'waits'; readonly approval: StoredApproval }
  | { readonly kind: 'delivered'; readonly approval: StoredApproval }
  | { readonly kind: 'full' }

/**
 * Stores what the agent wants to do for a person to decide, or joins the request that an identical call
 * has already made: while it waits the same id comes back, and once it is settled its result, once.
 */
export async function requestApproval(
  deps: RequestDeps,
  call: Call,
  stamps: readonly LimitStamp[],
): Promise<InvokeOutcome> {
  const { op, agent, capability, args, rule } = call
  const draft = await bindRequest(deps, call)
  const facts = { policy_decision: 'approval_required', rule } as const
  const found = await deps.journal.transaction(async (tx): Promise<Found> => {
    const open = await tx.approvals.findOpenCall(agent.name, draft.call_key)
    if (open) return join(tx, call, open)
    if ((await tx.approvals.countPending(agent.name)) >= pendingMax) {
      const error = new GatehouseError('TooManyPending', { agent: agent.name, limit: pendingMax })
      tx.append(
        callDraft(op, capability, args, {
          ...facts,
          result: 'denied',
          error: failureOf(error),
        }),
        {
          stamps,
          counts: true,
        },
      )
      return { kind: 'full' }
    }
    await tx.approvals.insert(draft)
    tx.append(
      callDraft(op, capability, args, { ...facts, result: 'pending', approval_id: draft.id }),
      {
        stamps,
        counts: true,
      },
    )
    return { kind: 'asked', approval: draft }
  })
  if (found.kind === 'full') {
    const error = new GatehouseError('TooManyPending', { agent: agent.name, limit: pendingMax })
    return {
      kind: 'overloaded',
      message: error.message,
      data: { reason: 'too_many_pending', limit: pendingMax },
    }
  }
  if (found.kind === 'asked') deps.signals.emit(found.approval)
  if (found.kind === 'delivered') return delivered(call, found.approval)
  if (agent.approvals === 'hold' && op.holds) {
    const settled = await holdUntilSettled(deps, call, found.approval)
    if (settled) return deliver(deps, call, settled)
  }
  return { kind: 'pending', pending: pendingOf(found.approval) }
}

async function join(tx: JournalTransaction, call: Call, open: StoredApproval): Promise<Found> {
  const facts = {
    policy_decision: 'approval_required',
    rule: call.rule,
    approval_id: open.id,
  } as const
  const { op, capability, args } = call
  if (!isSettled(open)) {
    tx.append(callDraft(op, capability, args, { ...facts, result: 'pending' }), {
      counts: true,
    })
    return { kind: 'waits', approval: open }
  }
  const { approval } = await tx.approvals.replace(open, { ...open, delivered: 'yes' })
  const result = resultOf(approval)
  tx.append(
    callDraft(op, capability, args, {
      ...facts,
      result: approval.status === 'rejected' ? 'rejected' : result?.success ? 'success' : 'error',
      error: result?.success === false ? result.error : null,
      detail: { delivered: true },
    }),
    { counts: true },
  )
  return { kind: 'delivered', approval }
}

/** Hands a held call its result, so that a later identical call is a new request. */
async function deliver(
  deps: RequestDeps,
  call: Call,
  settled: StoredApproval,
): Promise<InvokeOutcome> {
  const approval = await deps.journal.transaction(async (tx) => {
    const current = (await tx.approvals.find(settled.id)) ?? settled
    if (current.delivered !== 'yes') await join(tx, call, current)
    return current
  })
  return delivered(call, approval)
}

const delivered = ({ capability }: Call, approval: StoredApproval): InvokeOutcome => {
  const result = resultOf(approval)
  if (result?.success)
    return {
      kind: 'succeeded',
      capability,
      data: result.data,
      text: approval.result_text,
      ...(approval.edit ? { note: editNote } : {}),
    }
  if (result) return { kind: 'failed', error: result.error }
  return { kind: 'pending', pending: pendingOf(approval) }
}

const pendingOf = (approval: StoredApproval): PendingApproval => ({
  status: 'pending_approval',
  approval_id: approval.id as ApprovalId,
  capability: approval.capability,
  message:
    approval.status === 'approved'
      ? `${approval.capability} is approved and runs now. Ask for the result with approvals.wait.`
      : `${approval.capability} waits for a person to approve it. Wait with approvals.wait, or make the same call again later.`,
  expires_at: new Date(approval.expires_wall_ms).toISOString(),
})
