import type {
  ApprovalStatus,
  CapabilityResult,
  ExecutionState,
  Preview,
  RuleRef,
} from '@gatehouse/contract'

/** An approval as it is stored. `arguments_json` is the canonical text that `digest` covers. */
export type StoredApproval = {
  readonly id: string
  readonly agent: string
  readonly capability: string
  readonly arguments_json: string
  /** Canonical text of everything that the digest binds; it contains the arguments. */
  readonly bound_json: string
  readonly digest: string
  /** SHA-256 of agent, capability and arguments: equal for identical calls. */
  readonly call_key: string
  readonly requested_ms: number
  /** On the service clock. */
  readonly expires_ms: number
  /** The same moment on the wall clock; whichever comes first ends it. */
  readonly expires_wall_ms: number
  readonly status: ApprovalStatus
  readonly session_id: string | null
  readonly request_id: string
  readonly reason: string | null
  readonly rule: RuleRef | null
  readonly critical: boolean
  readonly preview: Preview | null
  readonly decided_ms: number | null
  readonly decided_by: string | null
  readonly decision_reason: string | null
  readonly execution: ExecutionState
  readonly exec_id: string | null
  readonly result: CapabilityResult | null
  /** The text rendering of a successful result, where the capability has one. */
  readonly result_text: string | null
  /** Whether the real result has been handed out by a repeated call. */
  readonly delivered: boolean
}

export type ApprovalFilter = {
  readonly status?: ApprovalStatus
  readonly agent?: string
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

  /** Must return the newest approval of this call that is pending, or decided and not yet delivered. */
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

  /** Must return when the next pending approval expires on the service clock, or null. */
  nextExpiry(): Promise<number | null>
}
