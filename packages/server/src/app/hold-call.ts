import { GatehouseError } from '@gatehouse/contract'
import { isSettled } from '../domain/approvals/outcome.ts'
import type { StoredApproval } from '../ports/approvals.ts'
import type { AgentDirectory } from './agent-directory.ts'
import type { AgentSlots } from './agent-slots.ts'
import type { InvokeOutcome } from './app.ts'
import { waitSettled } from './approval-outcomes.ts'
import { cancelApproval } from './cancel-approval.ts'
import { isRead } from './op.ts'
import { deliverHeld, type HeldCall, pendingAnswer, type RequestDeps } from './request-approval.ts'

const progressMs = 5_000

export type HoldDeps = RequestDeps & {
  readonly slots: AgentSlots
  readonly directory: AgentDirectory
  /** How long a call stays open, at most. */
  readonly approvalHoldMs: number
}

/**
 * Keeps a call open until its approval is settled, the time is over or nobody waits for the answer. It
 * has given back its executing place by then. An outcome that nobody reads is left for the other ways
 * of delivery.
 */
export async function holdCall(
  deps: HoldDeps,
  { call, hold, approval }: HeldCall,
): Promise<InvokeOutcome> {
  const { op, agent } = call
  if (!deps.slots.hold(agent.name)) return pendingAnswer(approval)
  op.waiting?.()
  let last: StoredApproval
  try {
    last = await waitWithProgress(deps, { call, hold, approval })
  } finally {
    deps.slots.release(agent.name)
  }
  await withdrawCancelled(deps, { call, hold, approval })
  const { name, credential } = op.actor
  // @SECURITY A token that was replaced while the call waited gets no result; held-calls.test.ts.
  const answered = isSettled(last) && isRead(op) && deps.directory.holder(name, credential) !== null
  return answered ? deliverHeld(deps, call, last) : pendingAnswer(last)
}

async function waitWithProgress(
  deps: HoldDeps,
  { call: { op, capability }, hold, approval: first }: HeldCall,
): Promise<StoredApproval> {
  const startMs = deps.clock.now()
  const endMs = hold.endMs(startMs, deps.approvalHoldMs)
  let approval = first
  for (;;) {
    const leftMs = endMs - deps.clock.now()
    approval = await waitSettled(deps, approval, Math.min(leftMs, progressMs), op)
    const nowMs = deps.clock.now()
    if (isSettled(approval) || nowMs >= endMs || !isRead(op)) return approval
    const message = `${capability.name} waits for a person to approve it (${approval.id})`
    op.progress?.((nowMs - startMs) / 1000, undefined, message)
  }
}

/** Only the caller's word withdraws the request, and only while nobody has decided. */
async function withdrawCancelled(
  deps: HoldDeps,
  { call: { op }, approval }: HeldCall,
): Promise<void> {
  const { aborted, reason } = op.signal
  if (!aborted || !(reason instanceof GatehouseError) || reason.type !== 'Cancelled') return
  try {
    await cancelApproval(op, deps, { approval_id: approval.id })
  } catch (cause) {
    if (!(cause instanceof GatehouseError) || cause.type !== 'ApprovalNotPending') throw cause
  }
}
