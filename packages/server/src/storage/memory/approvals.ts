import { GatehouseError } from '@gatehouse/contract'
import { isOpenCall } from '../../domain/approvals/outcome.ts'
import type { ApprovalStore, StoredApproval } from '../../ports/approvals.ts'
import { type Access, compareText } from './state.ts'

const oldestFirst = (a: StoredApproval, b: StoredApproval): number =>
  a.requested_ms - b.requested_ms || compareText(a.id, b.id)

/** What a second decider would have changed. */
const sameState = (a: StoredApproval, b: StoredApproval): boolean =>
  a.status === b.status &&
  a.execution === b.execution &&
  a.exec_id === b.exec_id &&
  a.digest === b.digest &&
  a.delivered === b.delivered

export const memoryApprovals = ({ state, write }: Access): ApprovalStore => {
  const where = (keep: (approval: StoredApproval) => boolean) =>
    [...state().approvals.values()].filter(keep).toSorted(oldestFirst)
  return {
    insert: (approval) =>
      write(({ approvals }) => {
        if (approvals.has(approval.id))
          throw new GatehouseError('Conflict', { detail: `approval ${approval.id} is there` })
        approvals.set(approval.id, structuredClone(approval))
      }),

    find: async (id) => state().approvals.get(id) ?? null,

    replace: (current, next) =>
      write(({ approvals }) => {
        const stored = approvals.get(current.id)
        if (!stored) throw new GatehouseError('ApprovalNotFound', { approval_id: current.id })
        if (!sameState(stored, current)) return { changed: false, approval: stored }
        const approval = { ...structuredClone(next), id: stored.id }
        approvals.set(stored.id, approval)
        return { changed: true, approval }
      }),

    async findOpenCall(agent, callKey) {
      const newest = where((a) => a.agent === agent && a.call_key === callKey).at(-1)
      return newest && isOpenCall(newest) ? newest : null
    },

    async list({ status, agent, limit, offset }) {
      const found = where(
        (a) => (status ?? a.status) === a.status && (agent ?? a.agent) === a.agent,
      )
      const ordered = status === 'pending' ? found : found.toReversed()
      return { approvals: ordered.slice(offset, offset + limit), total: found.length }
    },

    countPending: async (agent) =>
      where((a) => a.status === 'pending' && (agent ?? a.agent) === a.agent).length,

    listByExecution: async (execution, limit) =>
      where((a) => a.status === 'approved' && a.execution === execution).slice(0, limit),

    listExpired: async (nowMs, wallMs, limit) =>
      where(
        (a) => a.status === 'pending' && (a.expires_ms <= nowMs || a.expires_wall_ms <= wallMs),
      ).slice(0, limit),

    async nextExpiry(agent) {
      const waiting = where((a) => a.status === 'pending' && (agent ?? a.agent) === a.agent)
      const expiries = waiting.map((a) => a.expires_ms)
      return expiries.length === 0 ? null : expiries.reduce((a, b) => Math.min(a, b))
    },
  }
}
