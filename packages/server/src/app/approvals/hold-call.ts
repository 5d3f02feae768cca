import { GatehouseError } from '@gatehouse/contract'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { AgentSlots } from '../call/agent-slots.ts'
import type { HeldCall } from '../call/ask-person.ts'
import type { Call } from '../call/call.ts'
import type { Hold } from '../call/hold.ts'
import type { InvokeOutcome } from '../call/invoke.ts'
import type { CallRoom, Held, MemoryBudget } from '../call/memory-budget.ts'
import { type AgentOp, isRead } from '../call/op.ts'
import { memoryOf } from '../call/result-bytes.ts'
import { waitUntilResolved } from './approval-outcomes.ts'
import { cancelApproval } from './cancel-approval.ts'
import { deliverHeld, pendingAnswer, type RequestDeps } from './request-approval.ts'

const progressMs = 5_000

export type HoldDeps = RequestDeps & {
  readonly slots: AgentSlots
  readonly memory: MemoryBudget
  readonly directory: AgentDirectory
  readonly sessions: Pick<SessionTable, 'hold'>
  readonly settings: { readonly 'approvals.hold': number }
}

/**
 * Keeps a call open until its approval is resolved, the time is over, the service stops or nobody waits
 * for the answer. The call has given back its executing place and the memory for its result by then. An
 * outcome that nobody reads, or that finds no memory, is left for the other ways of delivery.
 */
export async function holdCall(
  deps: HoldDeps,
  held: HeldCall,
  memory: Held,
): Promise<InvokeOutcome> {
  const { call, hold, approval } = held
  const { op } = call
  const resolved = await holdOpen(op, deps, hold, approval)
  const isDue = (): boolean => {
    const { name, credential } = op.actor
    // @SECURITY A token that was replaced while the call waited gets no result; held-calls.test.ts.
    return resolved && isRead(op) && deps.directory.holder(name, credential) !== null
  }
  using room = isDue() ? await resultRoom(deps, call, memory) : null
  if (room && isDue()) {
    const outcome = await deliverHeld(deps, call, approval.id)
    room.made(outcome.kind === 'succeeded' ? memoryOf(outcome.data) : 0)
    return outcome
  }
  return pendingAnswer((await deps.storage.approvals.find(approval.id)) ?? approval)
}

/** Null where no memory came free in time, or the caller has gone meanwhile. */
async function resultRoom(
  { clock }: HoldDeps,
  { op: { signal }, capability }: Call,
  memory: Held,
): Promise<CallRoom | null> {
  try {
    return await memory.room(capability.result_bytes_max, () => ({ signal, clock }))
  } catch (cause) {
    if (signal.aborted || (cause instanceof GatehouseError && cause.type === 'Overloaded'))
      return null
    throw cause
  }
}

/**
 * Keeps a call open in one of the places for that, not at all where none is free. Whether its request is
 * resolved; a caller that took its call back has withdrawn the request.
 */
async function holdOpen(
  op: AgentOp,
  deps: HoldDeps,
  hold: Hold,
  approval: StoredApproval,
): Promise<boolean> {
  const { name } = op.actor
  if (!deps.slots.hold(name)) return false
  op.waiting?.()
  using _session = deps.sessions.hold(op.session_id, name)
  try {
    return await waitWithProgress(op, deps, hold, approval)
  } finally {
    deps.slots.release(name)
    await withdrawCancelled(op, deps, approval)
  }
}

export type HoldForDecision = {
  readonly approval_id: string
  readonly hold: Hold
  /** Whether the person at the client went to the page on which to decide. */
  readonly isOpened: boolean
}

/** Waits for a decision beside the call: for who went to decide, and for an agent whose calls stay open anyway. */
export async function holdForDecision(
  op: AgentOp,
  deps: HoldDeps,
  { hold, isOpened }: HoldForDecision,
  approval: StoredApproval,
): Promise<void> {
  const { name, credential } = op.actor
  const staysOpen = deps.directory.holder(name, credential)?.approvals === 'hold'
  if (isOpened || staysOpen) await holdOpen(op, deps, hold, approval)
}

async function waitWithProgress(
  op: AgentOp,
  deps: HoldDeps,
  hold: Hold,
  { id, capability }: StoredApproval,
): Promise<boolean> {
  const startMs = deps.clock.now()
  const endMs = hold.endMs(startMs, deps.settings['approvals.hold'])
  for (;;) {
    const leftMs = endMs - deps.clock.now()
    const ends = [op.signal, op.gone, hold.stops]
    const resolved = await waitUntilResolved(deps, id, Math.min(leftMs, progressMs), ends)
    const nowMs = deps.clock.now()
    if (resolved || nowMs >= endMs || !isRead(op) || hold.stops?.aborted) return resolved
    const message = `${capability} waits for a person to approve it (${id})`
    op.progress?.((nowMs - startMs) / 1000, undefined, message)
  }
}

/** Only the caller's word withdraws the request, and only while nobody has decided. */
async function withdrawCancelled(
  op: AgentOp,
  deps: HoldDeps,
  approval: StoredApproval,
): Promise<void> {
  const { aborted, reason } = op.signal
  if (!aborted || !(reason instanceof GatehouseError) || reason.type !== 'Cancelled') return
  try {
    await cancelApproval(op, deps, { approval_id: approval.id })
  } catch (cause) {
    if (!(cause instanceof GatehouseError) || cause.type !== 'ApprovalNotPending') throw cause
  }
}
