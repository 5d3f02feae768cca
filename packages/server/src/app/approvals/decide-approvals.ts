import { type DecideOutcome, GatehouseError } from '@gatehouse/contract'
import type { Op } from '../call/op.ts'
import { approvalRecord } from './approval-record.ts'
import { type DecideDeps, decideApproval } from './decide-approval.ts'

export type DecideManyInput = {
  readonly ids: readonly string[]
  readonly decision: 'approve' | 'reject'
  readonly reason?: string
  readonly digests?: Readonly<Record<string, string>>
}

/** One decision on many requests: each is decided and recorded by itself, and one that fails stops none. */
export async function decideApprovals(
  op: Op,
  deps: DecideDeps,
  { ids, decision, reason, digests }: DecideManyInput,
): Promise<readonly DecideOutcome[]> {
  const outcomes: DecideOutcome[] = []
  for (const id of ids) {
    const digest = digests && Object.hasOwn(digests, id) ? digests[id] : undefined
    const input = {
      approval_id: id,
      decision,
      ...(reason === undefined ? {} : { reason }),
      ...(digest === undefined ? {} : { digest }),
    }
    try {
      const { kind, approval } = await decideApproval(op, deps, input)
      outcomes.push({ id, outcome: kind, approval })
    } catch (error) {
      outcomes.push(await refusal(deps, id, digest, error))
    }
  }
  return outcomes
}

async function refusal(
  deps: DecideDeps,
  id: string,
  digest: string | undefined,
  error: unknown,
): Promise<DecideOutcome> {
  if (!(error instanceof GatehouseError)) throw error
  if (error.type === 'ApprovalNotFound') return { id, outcome: 'not_found' }
  const stored = await deps.storage.approvals.find(id)
  if (error.type === 'ApprovalStale' && stored)
    return {
      id,
      outcome: 'stale',
      approval: approvalRecord(deps, stored, String(error.facts['detail'])),
    }
  if (error.type === 'LoginTooOld' && stored)
    return { id, outcome: 'login_too_old', approval: approvalRecord(deps, stored) }
  if (error.type !== 'ApprovalDigestMismatch' || !stored) throw error
  const outcome = digest === undefined ? 'digest_required' : 'digest_mismatch'
  return { id, outcome, approval: approvalRecord(deps, stored) }
}
