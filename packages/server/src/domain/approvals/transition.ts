import type { StoredApproval } from './approval.ts'

export type DecisionRequest = {
  readonly decision: 'approve' | 'reject'
  readonly digest: string | undefined
  readonly reason: string | undefined
  readonly by: string
  /** When the person logged in, by the service clock; absent where a token decides. */
  readonly login_ms?: number
}

/** A critical request is approved by somebody who gave a password since; an older login may be a page left open. */
export const recentLoginMs = 15 * 60_000

export type Moment = { readonly nowMs: number; readonly wallMs: number }

export type Transition =
  | { readonly kind: 'changed'; readonly next: StoredApproval }
  | { readonly kind: 'not_pending' }
  | { readonly kind: 'expired'; readonly next: StoredApproval }
  | { readonly kind: 'digest_mismatch' }
  | { readonly kind: 'digest_required' }
  | { readonly kind: 'login_too_old' }

/** The clock that says so first decides: neither a wall clock set back nor one set forward keeps it alive. */
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
    const { login_ms } = request
    if (current.critical && login_ms !== undefined && moment.nowMs - login_ms > recentLoginMs)
      return { kind: 'login_too_old' }
  }
  return {
    kind: 'changed',
    next: {
      ...current,
      status: request.decision === 'approve' ? 'approved' : 'rejected',
      decided_ms: moment.wallMs,
      decided_by: request.by,
      decision_reason: request.reason?.trim() ? request.reason : null,
    },
  }
}
