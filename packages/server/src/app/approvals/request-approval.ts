import { type ApprovalId, GatehouseError, type PendingApproval } from '@gatehouse/contract'
import { editNote, isResolved, resultOf } from '../../domain/approvals/outcome.ts'
import { cancel } from '../../domain/approvals/transition.ts'
import { failureOf } from '../../domain/failure.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import { formatWindow } from '../../domain/policy/window.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { credentialEnded, isHolder } from '../agents/agent-directory.ts'
import type { HeldCall } from '../call/ask-person.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, callDraft } from '../call/call.ts'
import { callKeyOf } from '../call/call-key.ts'
import type { InvokeOutcome } from '../call/invoke.ts'
import { isRead } from '../call/op.ts'
import { announceChange } from './announce-change.ts'
import type { ApprovalWaitDeps } from './approval-outcomes.ts'
import { requestFacts } from './approval-record.ts'
import { type BindDeps, type BoundRequest, bindRequest } from './bind-request.ts'
import { recordDelivery } from './record-delivery.ts'

const pendingMax = 100
/** Until what has expired is found to have, at the latest. */
const expiryCheckMs = 1_000

export type RequestDeps = Basics &
  ApprovalWaitDeps &
  BindDeps & { readonly secrets: Pick<Secrets, 'scrub'> }

type Found =
  | {
      readonly kind: 'asked'
      readonly approval: StoredApproval
      readonly superseded: StoredApproval | null
    }
  | { readonly kind: 'waits'; readonly approval: StoredApproval }
  | { readonly kind: 'delivered'; readonly approval: StoredApproval }
  | { readonly kind: 'full' }
  | { readonly kind: 'stopped'; readonly error: GatehouseError }

/**
 * Stores what the agent wants to do for a person to decide, or joins the request that an identical call
 * has already made: while it waits the same id comes back, and once it is resolved its result, once.
 */
export async function requestApproval(
  deps: RequestDeps,
  call: Call,
  stamps: readonly LimitStamp[],
): Promise<InvokeOutcome | HeldCall> {
  const { op, agent, capability, args, rule } = call
  // Beside what the digest binds: the agent's words are shown to people, and no part of the call.
  const agent_reason = deps.secrets.scrub(op.agent_reason) ?? null
  // The result of an identical call is handed over all the same.
  const call_key = callKeyOf(deps, agent.name, capability.name, args)
  const known = await deps.storage.approvals.findOpenCall(agent.name, call_key)
  if (!known || known.status === 'pending') await deps.contexts.assertRunnable(call)
  const { request: bound, noted: detail } = await bindRequest(deps, call)
  const draft = { ...bound, agent_reason }
  const facts = { policy_decision: 'approval_required', rule, detail } as const
  const found = await deps.auditLog.transaction(async (tx): Promise<Found> => {
    const refuse = (error: GatehouseError): void => {
      const denied = { ...facts, result: 'denied', error: failureOf(error) } as const
      tx.append(callDraft(op, capability, args, denied), { stamps, counts: true })
    }
    const stopped = await stoppedMeanwhile(deps, tx, call)
    if (stopped) {
      refuse(stopped)
      return { kind: 'stopped', error: stopped }
    }
    const open = await tx.approvals.findOpenCall(agent.name, draft.call_key)
    const stale = open && staleness(deps, open, draft)
    if (open && stale === null) return join(tx, call, open, detail)
    const superseded = open && stale ? await supersede(deps, tx, call, open, draft, stale) : null
    if ((await tx.approvals.countPending(agent.name)) >= pendingMax) {
      const error = new GatehouseError('TooManyPending', { agent: agent.name, limit: pendingMax })
      refuse(error)
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
    return { kind: 'asked', approval: draft, superseded }
  })
  if (found.kind === 'stopped') throw found.error
  if (found.kind === 'full') return tooManyPending(deps, agent.name)
  if (found.kind === 'asked') {
    if (found.superseded) announceChange(deps, found.superseded)
    deps.signals.emit(found.approval)
  }
  if (found.kind === 'delivered') return delivered(call, found.approval)
  const { approval } = found
  if (agent.approvals === 'hold' && op.hold) return { kind: 'held', call, hold: op.hold, approval }
  return pendingAnswer(approval)
}

/**
 * @SECURITY A request takes its time to bind: one of an agent that was revoked meanwhile would wait until the agent is
 * restored, under another token; request-approval.test.ts.
 */
async function stoppedMeanwhile(
  { clock }: RequestDeps,
  { agents }: AuditTransaction,
  { op: { actor } }: Call,
): Promise<GatehouseError | null> {
  const agent = await agents.find(actor.name)
  if (!agent || !isHolder(agent, actor.credential, clock.now())) return credentialEnded()
  return agent.status === 'active' ? null : new GatehouseError('AgentPaused', { agent: actor.name })
}

/** Why a pending request can't stand for the same call as it is made now; null where it can. */
const staleness = (
  { digest }: RequestDeps,
  open: StoredApproval,
  draft: StoredApproval,
): string | null => {
  if (open.status !== 'pending') return null
  if (draft.critical && !open.critical) return 'policy calls it critical by now'
  const [was, is] = [open, draft].map(({ bound_json }) => {
    const bound = parseStored<Record<string, unknown>>(bound_json, 'approvals.bound_json')
    const { nonce: _nonce, policy_version: _version, node: _node, ...rest } = bound
    return digest.canonical(rest)
  })
  return was === is ? null : 'what it touches has changed since it was asked for'
}

/** A call that could not run takes no person's time: the request as it stands now takes its place. */
async function supersede(
  deps: RequestDeps,
  tx: AuditTransaction,
  { op }: Call,
  open: StoredApproval,
  draft: StoredApproval,
  why: string,
): Promise<StoredApproval | null> {
  const moment = { nowMs: deps.clock.now(), wallMs: deps.clock.wall() }
  const decision_reason = `${why}; ${draft.id} takes its place`
  const { changed, approval } = await tx.approvals.replace(open, {
    ...cancel(open, moment, 'system'),
    decision_reason,
  })
  if (!changed) return null
  tx.append(
    actDraft(op, 'approval.cancelled', {
      agent: open.agent,
      arguments: requestFacts(open),
      approval_id: open.id,
      detail: { reason: decision_reason, superseded_by: draft.id },
    }),
  )
  return approval
}

async function join(
  tx: AuditTransaction,
  call: Call,
  open: StoredApproval,
  detail: BoundRequest['noted'],
): Promise<Found> {
  const facts = {
    policy_decision: 'approval_required',
    rule: call.rule,
    approval_id: open.id,
  } as const
  const { op, capability, args } = call
  // An answer that nobody reads is delivered to nobody.
  if (!isResolved(open) || !isRead(op)) {
    tx.append(callDraft(op, capability, args, { ...facts, detail, result: 'pending' }), {
      counts: true,
    })
    return { kind: 'waits', approval: open }
  }
  const { approval } = await tx.approvals.replace(open, { ...open, delivered: 'yes' })
  appendDelivery(tx, call, approval)
  return { kind: 'delivered', approval }
}

function appendDelivery(tx: AuditTransaction, call: Call, approval: StoredApproval): void {
  const { op, capability, args, rule } = call
  const result = resultOf(approval)
  tx.append(
    callDraft(op, capability, args, {
      policy_decision: 'approval_required',
      rule,
      approval_id: approval.id,
      result: approval.status === 'rejected' ? 'rejected' : result?.success ? 'success' : 'error',
      error: result?.success === false ? result.error : null,
      detail: { delivered: true },
    }),
    { counts: true },
  )
}

/** The place of the request that expires first is free by then, and sooner where a person decides. */
async function tooManyPending(deps: RequestDeps, agent: string): Promise<InvokeOutcome> {
  const { message } = new GatehouseError('TooManyPending', { agent, limit: pendingMax })
  const expiry = (await deps.storage.approvals.nextExpiry(agent)) ?? 0
  const waitMs = Math.max(0, expiry - deps.clock.now()) + expiryCheckMs
  return {
    kind: 'limited',
    message,
    data: {
      reason: 'too_many_pending',
      retry_after_seconds: Math.ceil(waitMs / 1000),
      limit: pendingMax,
      window: formatWindow(deps.settings['approvals.ttl']),
    },
  }
}

/** Hands a held call its result, so that a later identical call is a new request. */
export async function deliverHeld(
  deps: RequestDeps,
  call: Call,
  approval_id: string,
): Promise<InvokeOutcome> {
  const approval = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.approvals.find(approval_id)
    if (!current) throw new GatehouseError('ApprovalNotFound', { approval_id })
    if (current.delivered === 'yes') return current
    await recordDelivery(tx.approvals, current)
    appendDelivery(tx, call, current)
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
  return pendingAnswer(approval)
}

/** The answer to a call that a person has yet to decide on, or that is yet to run. */
export const pendingAnswer = (approval: StoredApproval): InvokeOutcome => ({
  kind: 'pending',
  pending: toPending(approval),
})

export const toPending = (approval: StoredApproval): PendingApproval => ({
  status: 'pending_approval',
  approval_id: approval.id as ApprovalId,
  capability: approval.capability,
  message:
    approval.status === 'approved'
      ? `${approval.capability} is approved and runs now. Ask for the result with approvals.wait.`
      : `${approval.capability} waits for a person to approve it. Wait with approvals.wait, or make the same call again later.`,
  expires_at: new Date(approval.expires_wall_ms).toISOString(),
})
