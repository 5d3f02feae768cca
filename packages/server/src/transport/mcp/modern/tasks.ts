import { GatehouseError } from '@gatehouse/contract'
import type { FollowedApproval } from '../../../app/approvals/follow-approval.ts'
import { rpcError } from '../../http/describe-thrown.ts'
import type { Members } from '../../http/envelope.ts'
import type { ToolNames } from '../../http/tool-names.ts'
import { resultOfStored, type ToolResult } from '../tools.ts'
import { type ModernCall, opOf } from './modern-request.ts'

const pollIntervalMs = 2_000

export type TaskError = { readonly error: ReturnType<typeof rpcError> }
type Answer = { readonly result: Members } | TaskError

const statusMessage = (followed: FollowedApproval, names: ToolNames): string => {
  const { capability, status, approval_id, decision_reason } = followed
  const reason = decision_reason === null ? '' : `: ${decision_reason}`
  const tool = names.text(capability)
  switch (status) {
    case 'pending':
      return `${tool} waits for a person to approve it (${approval_id})`
    case 'approved':
      return followed.result ? `A person approved ${tool}${reason}` : `${tool} is approved and runs`
    case 'rejected':
      return `A person rejected ${tool}${reason}`
    case 'expired':
      return `Nobody decided on ${tool} in time`
    case 'cancelled':
      return `The request for ${tool} was withdrawn${reason}`
  }
}

/** An approval as the handle of a task, without its result. */
export const taskOf = (followed: FollowedApproval, names: ToolNames) => {
  const { approval_id, status, result, requested_at, changed_at, expires_at } = followed
  return {
    taskId: approval_id,
    status: status === 'cancelled' ? 'cancelled' : result ? 'completed' : 'working',
    statusMessage: statusMessage(followed, names),
    createdAt: requested_at,
    lastUpdatedAt: changed_at,
    // Until nobody can decide any more. The result can be read after that.
    ttlMs: Date.parse(expires_at) - Date.parse(requested_at),
    pollIntervalMs,
  } as const
}

/** The same with the result of the call, as `tools/call` would have answered it. */
export const detailedTaskOf = (
  followed: FollowedApproval,
  names: ToolNames,
  bounded: (result: ToolResult) => ToolResult,
): Members => {
  const task = taskOf(followed, names)
  if (task.status !== 'completed' || !followed.result) return task
  const result = resultOfStored({ ...followed, result: followed.result }, names)
  return { ...task, result: { ...bounded(result), resultType: 'complete' } }
}

const noTask: TaskError = {
  error: rpcError('InvalidParams', { detail: 'taskId is none of yours', member: 'taskId' }),
}

/**
 * Answers a method of the tasks extension. A task is an approval of the agent whose token the request has.
 * @SECURITY No answer decides an approval, and another agent's does not exist; client-cannot-decide.test.ts.
 */
export const answerTask = async (
  call: ModernCall,
  method: 'tasks/get' | 'tasks/update' | 'tasks/cancel',
  bounded: (result: ToolResult) => ToolResult,
): Promise<Answer> => {
  const { deps, params } = call
  const { taskId: approval_id } = params
  if (typeof approval_id !== 'string') {
    return { error: rpcError('InvalidParams', { detail: 'taskId is missing', member: 'taskId' }) }
  }
  const op = opOf(call)
  const deliver = method === 'tasks/get'
  try {
    const followed = await deps.app.followApproval(op, { approval_id, deliver })
    if (deliver) return { result: detailedTaskOf(followed, deps.names, bounded) }
    // No task asks its client for anything, so an update has nothing to answer.
    if (method === 'tasks/cancel' && followed.status === 'pending') {
      await deps.app.cancelApproval(op, { approval_id })
    }
    return { result: {} }
  } catch (thrown) {
    if (!(thrown instanceof GatehouseError)) throw thrown
    if (thrown.type === 'ApprovalNotFound') return noTask
    // Somebody decided in this moment: a cancellation is a wish.
    if (thrown.type === 'ApprovalNotPending') return { result: {} }
    throw thrown
  }
}
