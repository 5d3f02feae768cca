import type {
  ApprovalEdit,
  ApprovalStatus,
  CapabilityResult,
  ExecutionState,
  Preview,
  RuleRef,
} from '@gatehouse/contract'

/**
 * Whether the outcome has reached the agent. `sending`: a push of it is under way. What a crash leaves at
 * `sending` counts as delivered, so that no later call is answered with an outcome already seen.
 */
export type Delivered = 'no' | 'sending' | 'yes'

/** An approval as it is stored. `arguments_json` is the canonical text that `digest` covers. */
export type StoredApproval = {
  readonly id: string
  readonly agent: string
  readonly capability: string
  readonly arguments_json: string
  /** Canonical text of the arguments as they were sent; null where it is that of `arguments_json`. */
  readonly sent_json: string | null
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
  /** Why the agent made the call, in its own words; bound by nothing. */
  readonly agent_reason: string | null
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
  readonly delivered: Delivered
  /** Set on both requests where a person approved other arguments than were asked for. */
  readonly edit: ApprovalEdit | null
}
