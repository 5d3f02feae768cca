import type { ApprovalStatus } from '@gatehouse/contract'
import { outcomeOf } from '../../domain/approvals/outcome.ts'
import type { AgentApprovals } from '../../ports/capability.ts'
import { type Call, roomAfterWait } from '../call/call.ts'
import {
  type ApprovalWaitDeps,
  findOwnApproval,
  getApprovalOutcome,
  waitApprovalOutcome,
} from './approval-outcomes.ts'
import { argumentsOf } from './approval-record.ts'
import { cancelApproval } from './cancel-approval.ts'

/** An agent's own approvals, through the capabilities of the group `approvals`. */
export const approvalsOf = (deps: ApprovalWaitDeps, call: Call): AgentApprovals => ({
  get: (approval_id) => getApprovalOutcome(call.op, deps, { approval_id }),
  wait: (approval_id, timeout_ms, signal) =>
    waitApprovalOutcome(
      { ...call.op, signal, gone: call.op.gone },
      deps,
      { approval_id, timeout_ms },
      () => roomAfterWait(call, call.capability.result_bytes_max, deps.clock, signal),
    ),
  async list(status: ApprovalStatus | undefined, limit: number) {
    const filter = { agent: call.op.actor.name, limit, offset: 0, ...(status ? { status } : {}) }
    const { approvals, total } = await deps.storage.approvals.list(filter)
    return {
      approvals: approvals.map((stored) => {
        const { id, capability, status: now, decision_reason, execution } = stored
        return {
          approval_id: id,
          capability,
          status: now,
          requested_at: new Date(stored.requested_ms).toISOString(),
          expires_at: new Date(stored.expires_wall_ms).toISOString(),
          decision_reason,
          execution,
        }
      }),
      total,
      truncated: total > approvals.length,
    }
  },
  async find(approval_id) {
    const stored = await findOwnApproval(call.op, deps, approval_id)
    const { capability, status, requested_ms } = stored
    const requested_at = new Date(requested_ms).toISOString()
    return { capability, status, requested_at, arguments: argumentsOf(stored).effective_arguments }
  },
  cancel: async (approval_id) => outcomeOf(await cancelApproval(call.op, deps, { approval_id })),
})
