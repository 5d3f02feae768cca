import type { StoredApproval } from './approval.ts'

export type DecisionRequest = {
  readonly decision: 'approve' | 'reject'
  readonly digest: string | undefined
  readonly reason: string | undefined
  readonly by: string
}

export type Moment = { readonly nowMs: number; readonly wallMs: number }

export type Transition =
  | { readonly kind: 'changed'; readonly next: StoredApproval }
  | { readonly kind: 'not_pending' }
  | { readonly kind: 'expired'; readonly next: StoredApproval }
  | { readonly kind: 'digest_mismatch' }
  | { readonly kind: 'digest_required' }

/** Whichever clock says so first: neither a wall clock set back nor one set forward keeps it alive. */
export const isExpired = (approval: StoredApproval, moment: Moment): boolean =>
  moment.nowMs >= approval.expires_ms || moment.wallMs >= approval.expires_wall_ms

export const expire = (approval: StoredApproval, moment: Moment): StoredApproval => ({
  ...approval,
  status: 'expired',
  decided_ms: moment.wallMs,
  decided_by: 'system',
})

export const cancel = (approval: StoredApproval, moment: Moment, by: string): StoredApproval => ({
  ...approval,
  status: 'cancelled',
  decided_ms: moment.wallMs,
  decided_by: by,
})

/** Decision applied to an approval. Only a pending, unexpired one ever changes. */
export const decideTransition = (
  current: StoredApproval,
  request: DecisionRequest,
  moment: Moment,
): Transition => {
  if (current.status !== 'pending') return { kind: 'not_pending' }
  if (isExpired(current, moment)) return { kind: 'expired', next: expire(current, moment) }
  if (request.decision === 'approve') {
    if (request.digest !== undefined && request.digest !== current.digest)
      return { kind: 'digest_mismatch' }
    if (current.critical && request.digest === undefined) return { kind: 'digest_required' }
  }
  return {
    kind: 'changed',
    next: {
      ...current,
      status: request.decision === 'approve' ? 'approved' : 'rejected',
      decided_ms: moment.wallMs,
      decided_by: request.by,
      decision_reason: request.reason ?? null,
    },
  }
}
