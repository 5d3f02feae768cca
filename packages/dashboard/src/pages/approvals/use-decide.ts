import type { Approval, DecideOutcomes } from '@gatehouse/contract'
import { useCallback, useState } from 'react'
import { api, codeOf, currentOf, queryClient } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { announce } from '../../ui/toasts.tsx'

/** The outcome of a request is shown at once; the stream tells the rest. */
export const remember = (approval: Approval): void => {
  queryClient.setQueryData(['showApproval', { id: approval.id }], approval)
}

type Extra = {
  readonly reason?: string
  readonly remember?: {
    readonly ttl_seconds: number
    readonly match: 'same_arguments' | 'same_capability'
    readonly uses?: number
  }
  readonly arguments?: Readonly<Record<string, unknown>>
}

const isApproval = (value: unknown): value is Approval =>
  typeof value === 'object' && value !== null && 'digest' in value && 'execution' in value

/** Sends one decision. A request that changed meanwhile is shown anew, and what was decided about it said. */
export async function decideOne(
  { id, digest }: Approval,
  decision: 'approve' | 'reject',
  { reason, ...extra }: Extra = {},
): Promise<Approval> {
  const said = reason === undefined || reason.trim() === '' ? {} : { reason: reason.trim() }
  try {
    const decided =
      decision === 'approve'
        ? await api.approveApproval({ id, digest, ...said, ...extra })
        : await api.rejectApproval({ id, ...said })
    remember(decided)
    return decided
  } catch (error) {
    const current = currentOf(error)
    if (!isApproval(current)) throw error
    remember(current)
    if (codeOf(error) === 'ApprovalNotPending') {
      announce(text.someoneElse)
      return current
    }
    if (codeOf(error) === 'ApprovalDigestMismatch') throw new Error(text.changed, { cause: error })
    throw error
  }
}

/** Requests that one call of the service takes. */
const atOnceMax = 100

/** One decision on many; each is recorded by itself, with the digest that was shown. */
export async function decideMany(
  approvals: readonly Approval[],
  decision: 'approve' | 'reject',
  reason = '',
): Promise<readonly Approval[]> {
  const outcomes: DecideOutcomes['outcomes'] = []
  for (let at = 0; at < approvals.length; at += atOnceMax) {
    const part = approvals.slice(at, at + atOnceMax)
    const answer = await api.decideApprovals({
      ids: part.map(({ id }) => id),
      decision,
      digests: Object.fromEntries(part.map(({ id, digest }) => [id, digest])),
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    })
    outcomes.push(...answer.outcomes)
  }
  const changed = outcomes.flatMap(({ approval }) => approval ?? [])
  for (const approval of changed) remember(approval)
  const decided = outcomes.filter(({ outcome }) => outcome === 'decided').length
  if (outcomes.some(({ outcome }) => outcome === 'login_too_old'))
    throw new LoginTooOldError(text.tooOld)
  announce(text.outcomes(decided, outcomes.length - decided))
  return changed
}

/** Some of many requests were critical, and the login is not recent. */
export class LoginTooOldError extends Error {}

export const isLoginTooOld = (error: unknown): boolean =>
  error instanceof LoginTooOldError || codeOf(error) === 'LoginTooOld'

/** Requests that were decided on this page stay on it, until the person leaves or dismisses them. */
export function useKept(): {
  readonly kept: ReadonlySet<string>
  readonly keep: (ids: readonly string[]) => void
  readonly dismiss: (id: string) => void
} {
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set())
  return {
    kept,
    keep: useCallback((ids) => setKept((before) => new Set([...before, ...ids])), []),
    dismiss: useCallback(
      (id) => setKept((before) => new Set([...before].filter((one) => one !== id))),
      [],
    ),
  }
}
