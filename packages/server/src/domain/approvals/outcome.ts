import {
  type ApprovalId,
  type ApprovalOutcome,
  type CapabilityResult,
  GatehouseError,
} from '@gatehouse/contract'
import { failureOf } from '../failure.ts'
import type { StoredApproval } from './approval.ts'

/** For the agent, beside the result. */
export const editNote =
  'A person changed the arguments before approving; the result is of the changed call.'

const failed = (error: GatehouseError): CapabilityResult => ({
  success: false,
  error: failureOf(error),
})

/** Whether nothing more will happen to it: decided against, or run. */
export const isResolved = (approval: StoredApproval): boolean =>
  approval.status === 'approved'
    ? approval.execution !== 'waiting' && approval.execution !== 'running'
    : approval.status !== 'pending'

/** Whether an identical call joins it: it waits, or its outcome has not reached the agent yet. */
export const isOpenCall = ({ status, delivered }: StoredApproval): boolean =>
  status === 'pending' || ((status === 'approved' || status === 'rejected') && delivered === 'no')

/** The result that the agent gets, or null while there is none. */
export const resultOf = (approval: StoredApproval): CapabilityResult | null => {
  const approval_id = approval.id
  switch (approval.status) {
    case 'pending':
      return null
    case 'rejected':
      return failed(
        new GatehouseError('ApprovalRejected', {
          approval_id,
          reason: approval.decision_reason ?? 'no reason given',
        }),
      )
    case 'expired':
      return failed(new GatehouseError('ApprovalExpired', { approval_id }))
    case 'cancelled':
      return failed(
        new GatehouseError('ApprovalCancelled', {
          approval_id,
          detail: approval.decision_reason ? `: ${approval.decision_reason}` : '',
        }),
      )
    case 'approved':
      if (approval.execution === 'interrupted')
        return failed(new GatehouseError('ExecutionInterrupted', { approval_id }))
      return isResolved(approval) ? approval.result : null
  }
}

export const outcomeOf = (approval: StoredApproval): ApprovalOutcome => {
  const result = resultOf(approval)
  return {
    approval_id: approval.id as ApprovalId,
    status: approval.status,
    ...(result ? { result } : {}),
    ...(approval.edit
      ? {
          edited: {
            arguments: approval.edit.effective,
            note: editNote,
          },
        }
      : {}),
  }
}
