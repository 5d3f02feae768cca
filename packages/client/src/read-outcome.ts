import { UnexpectedAnswer } from './gatehouse-error.ts'
import { isMembers, type Members, textOf } from './members.ts'
import { toFailure } from './to-error.ts'
import type { Answer } from './transport.ts'

/** `{success, data | error}`, as `capabilities.invoke` answers and approvals carry it. Raises the failure. */
export const readResult = (result: unknown): Answer => {
  if (!isMembers(result) || typeof result['success'] !== 'boolean')
    throw new UnexpectedAnswer('The answer is no result of a capability.')
  if (result['success'])
    return { kind: 'done', data: result['data'], note: textOf(result['note'], '') || null }
  throw toFailure(isMembers(result['error']) ? result['error'] : {})
}

/** `{status: "pending_approval", …}`; null where it is something else. */
export const readPending = (data: unknown): Answer | null => {
  if (!isMembers(data) || data['status'] !== 'pending_approval') return null
  const { approval_id: approvalId, message, expires_at: expires } = data
  if (typeof approvalId !== 'string') return null
  return {
    kind: 'pending',
    approvalId,
    message: textOf(message, 'A person has to approve this call.'),
    expiresAt: typeof expires === 'string' ? expires : null,
  }
}

const undecided = (approvalId: string): Answer => ({
  kind: 'pending',
  approvalId,
  message: `Nobody has decided on ${approvalId} yet.`,
  expiresAt: null,
})

const noteOf = (edited: unknown): string | null =>
  isMembers(edited) && typeof edited['note'] === 'string' ? edited['note'] : null

/** Answer of `approvals.wait`: the result once there is one, whatever was decided. */
export const readApproval = (outcome: Members, approvalId: string): Answer => {
  if (outcome['result'] === undefined) return undecided(approvalId)
  const answer = readResult(outcome['result'])
  return answer.kind === 'done'
    ? { ...answer, note: answer.note ?? noteOf(outcome['edited']) }
    : answer
}
