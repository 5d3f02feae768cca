import { type ApprovalOutcome, GatehouseError } from '@gatehouse/contract'
import { isResolved, outcomeOf } from '../../domain/approvals/outcome.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import { type AgentOp, isRead } from '../call/op.ts'
import { argumentsOf } from './approval-record.ts'
import type { ApprovalSignals } from './approval-signals.ts'
import type { CancelDeps } from './cancel-approval.ts'
import { recordTold } from './record-delivery.ts'

/** A change on another node sends no signal here: look again this often. */
const pollMs = 1_000

export type ApprovalWaitDeps = Pick<Basics, 'storage' | 'clock'> &
  CancelDeps & { readonly signals: ApprovalSignals }

/** Another agent's approval does not exist for this one. */
export async function findOwnApproval(
  op: AgentOp,
  deps: Pick<Basics, 'storage'>,
  approval_id: string,
): Promise<StoredApproval> {
  const approval = await deps.storage.approvals.find(approval_id)
  if (approval?.agent !== op.actor.name)
    throw new GatehouseError('ApprovalNotFound', { approval_id })
  return approval
}

export async function getApprovalOutcome(
  op: AgentOp,
  deps: Pick<Basics, 'storage'>,
  input: { readonly approval_id: string },
): Promise<ApprovalOutcome> {
  const approval = await findOwnApproval(op, deps, input.approval_id)
  return { ...(await deliverOutcome(op, deps, approval)), ...argumentsOf(approval) }
}

/** An answer to a caller that has gone away is no delivery: nobody reads it. */
async function deliverOutcome(
  op: AgentOp,
  deps: Pick<Basics, 'storage'>,
  approval: StoredApproval,
): Promise<ApprovalOutcome> {
  if (isRead(op)) await recordTold(deps.storage.approvals, approval)
  return outcomeOf(approval)
}

/** Waits until nothing more will happen to it, the time is over, or the caller goes away. */
export async function waitApprovalOutcome(
  op: AgentOp,
  deps: ApprovalWaitDeps,
  input: { readonly approval_id: string; readonly timeout_ms: number },
  /** Waits for room for what is then read. */
  roomForResult?: () => Promise<void>,
): Promise<ApprovalOutcome> {
  const { approval_id, timeout_ms } = input
  await findOwnApproval(op, deps, approval_id)
  await waitUntilResolved(deps, approval_id, timeout_ms, [op.signal, op.gone])
  await roomForResult?.()
  return deliverOutcome(op, deps, await findOwnApproval(op, deps, approval_id))
}

/** Whether it is resolved by then. Approvals may be large, and many calls may wait: none keeps one meanwhile. */
export async function waitUntilResolved(
  deps: ApprovalWaitDeps,
  id: string,
  timeoutMs: number,
  ends: readonly (AbortSignal | undefined)[],
): Promise<boolean> {
  const signal = AbortSignal.any(ends.filter((end) => end !== undefined))
  const isResolvedNow = async () => {
    const approval = await deps.storage.approvals.find(id)
    return approval !== null && isResolved(approval)
  }
  const endMs = deps.clock.now() + timeoutMs
  for (;;) {
    const leftMs = endMs - deps.clock.now()
    if (leftMs <= 0 || signal.aborted) return await isResolvedNow()
    const changed = new AbortController()
    const wake = () => changed.abort()
    signal.addEventListener('abort', wake)
    // Listening begins before the look, so a change between the two is not missed.
    using _listening = deps.signals.on((next) => {
      if (next.id === id) wake()
    })
    using _elsewhere = deps.storage.onForeignChange('approvals', wake)
    const resolved = await isResolvedNow()
    if (!resolved) await deps.clock.sleep(Math.min(leftMs, pollMs), changed.signal)
    signal.removeEventListener('abort', wake)
    if (resolved) return true
  }
}
