import { type Approval, GatehouseError, type Remember } from '@gatehouse/contract'
import { decideTransition, recentLoginMs } from '../../domain/approvals/transition.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import { actDraft } from '../call/audit-draft.ts'
import { actorText, type Op } from '../call/op.ts'
import { announceChange } from './announce-change.ts'
import { type EditDeps, prepareEdit, storeEdit } from './approval-edit.ts'
import { approvalRecord, requestFacts } from './approval-record.ts'
import type { ConsequenceDeps } from './consequences.ts'
import { type ExecuteDeps, prepareExecution } from './execute-approval.ts'
import { createGrant } from './grants.ts'

export type DecideDeps = EditDeps &
  ExecuteDeps &
  ConsequenceDeps & {
    /** Runs what was approved, soon and at most once. */
    readonly execute: (approval_id: string) => void
  }

export type DecideInput = {
  readonly approval_id: string
  readonly decision: 'approve' | 'reject'
  readonly digest?: string
  readonly reason?: string
  /** Lets later calls run without asking. */
  readonly remember?: Remember
  /** Runs with these in place of those asked for. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

type Outcome = { readonly kind: 'decided' | 'not_pending'; readonly approval: Approval }
type Step = { readonly kind: Outcome['kind'] | 'expired'; readonly approval: StoredApproval }

/** Of two people who decide at once, the second is shown what the first decided. */
export async function decideApproval(
  op: Op,
  deps: DecideDeps,
  input: DecideInput,
): Promise<Outcome> {
  const edited = await editOf(op, deps, input)
  if (input.decision === 'approve' && !edited) await assertFresh(deps, input)
  const step = await deps.auditLog.transaction(async (tx): Promise<Step> => {
    const { approval_id } = input
    const current = await tx.approvals.find(approval_id)
    if (!current) throw new GatehouseError('ApprovalNotFound', { approval_id })
    const request = {
      decision: input.decision,
      digest: input.digest,
      reason: input.reason,
      by: actorText(op.actor),
      ...loginOf(op),
    }
    const verdict = decideTransition(current, request, {
      nowMs: deps.clock.now(),
      wallMs: deps.clock.wall(),
    })
    switch (verdict.kind) {
      case 'not_pending':
        return { kind: 'not_pending', approval: current }
      case 'login_too_old':
        throw new GatehouseError('LoginTooOld', { approval_id, minutes: recentLoginMs / 60_000 })
      case 'digest_mismatch':
      case 'digest_required':
        throw new GatehouseError('ApprovalDigestMismatch', { approval_id, digest: current.digest })
      case 'expired':
      case 'changed': {
        const runs = verdict.kind === 'changed' ? edited : null
        const next = runs
          ? // It waits, run by nobody, until what runs in its place tells it the result.
            { ...verdict.next, execution: 'running' as const, edit: runs.edit }
          : verdict.next
        const { changed, approval } = await tx.approvals.replace(current, next)
        if (!changed) return { kind: 'not_pending', approval }
        const { status, agent } = approval
        const grant_id =
          input.remember && status === 'approved'
            ? await createGrant(op, deps, tx, current, input.remember)
            : undefined
        tx.append(
          actDraft(op, `approval.${status}`, {
            agent,
            arguments: { ...requestFacts(approval), digest: approval.digest },
            approval_id,
            result: status === 'approved' ? 'success' : 'rejected',
            detail: {
              ...(input.reason === undefined ? {} : { reason: input.reason }),
              ...(grant_id === undefined ? {} : { grant_id }),
              ...(runs ? { edited_request: runs.id } : {}),
            },
          }),
        )
        if (runs) await storeEdit(op, deps, tx, current, runs)
        return { kind: verdict.kind === 'expired' ? 'expired' : 'decided', approval }
      }
    }
  })
  if (step.kind !== 'not_pending') announceChange(deps, step.approval)
  if (step.kind === 'decided' && step.approval.status === 'approved')
    deps.execute(edited?.id ?? step.approval.id)
  return {
    kind: step.kind === 'decided' ? 'decided' : 'not_pending',
    approval: approvalRecord(deps, step.approval),
  }
}

const loginOf = ({ actor }: Op): { readonly login_ms?: number } =>
  actor.kind === 'user' && actor.login_ms !== undefined ? { login_ms: actor.login_ms } : {}

/** A person approves what would run now, or nothing: not a request that would only fail afterwards. */
async function assertFresh(deps: DecideDeps, { approval_id }: DecideInput): Promise<void> {
  const current = await deps.storage.approvals.find(approval_id)
  if (current?.status !== 'pending') return
  const prepared = await prepareExecution(deps, current)
  if (prepared.kind === 'refused') throw prepared.error
}

/** The request that runs where other arguments are approved; null where it runs as it was asked for. */
async function editOf(
  op: Op,
  deps: DecideDeps,
  input: DecideInput,
): Promise<StoredApproval | null> {
  if (input.decision !== 'approve' || input.arguments === undefined) return null
  if (input.remember) {
    const detail = 'what is remembered is a request as it was asked for; approve one or the other'
    throw new GatehouseError('EditRefused', { detail })
  }
  const original = await deps.storage.approvals.find(input.approval_id)
  if (original?.status !== 'pending') return null
  return prepareEdit(op, deps, original, input.arguments)
}
