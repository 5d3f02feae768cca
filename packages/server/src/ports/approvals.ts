import type { ApprovalStatus, ExecutionState } from '@gatehouse/contract'
import type { StoredApproval } from '../domain/approvals/approval.ts'
import type { Period } from './period.ts'

export type { StoredApproval }

/** The period is that in which requests were made. */
export type ApprovalFilter = Period & {
  /** `decided` is every status but pending. */
  readonly status?: ApprovalStatus | 'decided'
  readonly agent?: string
  readonly capability?: string
  readonly limit: number
  readonly offset: number
}

export interface ApprovalStore {
  /** Must be durable when the promise resolves (of its transaction, inside one). */
  insert(approval: StoredApproval): Promise<void>

  /** Must return null for an unknown id. Ids must be compared byte by byte. */
  find(id: string): Promise<StoredApproval | null>

  /**
   * Must store `next` only if status, execution, exec_id, digest and delivered of the row are still
   * those of `current`, in one step that no other connection or node can split. Must return the row
   * as it then stands, and whether it changed.
   */
  replace(
    current: StoredApproval,
    next: StoredApproval,
  ): Promise<{ readonly changed: boolean; readonly approval: StoredApproval }>

  /**
   * Must return the newest approval of this call if it is open (`isOpenCall`), and null otherwise: an
   * older one is never returned, so no outcome comes back once a newer request was made.
   */
  findOpenCall(agent: string, callKey: string): Promise<StoredApproval | null>

  /** Must list oldest first for pending ones, newest first otherwise, with the total. */
  list(
    filter: ApprovalFilter,
  ): Promise<{ readonly approvals: readonly StoredApproval[]; readonly total: number }>

  countPending(agent?: string): Promise<number>

  /** Must return approved ones whose execution is in this state, oldest first. */
  listByExecution(state: ExecutionState, limit: number): Promise<readonly StoredApproval[]>

  /** Must return pending ones that expire at or before either moment, oldest first. */
  listExpired(nowMs: number, wallMs: number, limit: number): Promise<readonly StoredApproval[]>

  /** Must return when the next pending approval (of the agent) expires on the service clock, or null. */
  nextExpiry(agent?: string): Promise<number | null>
}
