import type { CapabilityError, PendingApproval } from '@gatehouse/contract'
import type { Capability } from '../../ports/capability.ts'
import type { AgentOp } from './op.ts'

/** A value of the arguments that JSON allows and no program reads exactly, such as 2^53 + 1. */
export type UnreadableValue = {
  /** Path of the value inside the arguments. */
  readonly at: string
  readonly detail: string
}

export type InvokeInput = {
  /** Dotted name. */
  readonly capability: string
  /** As parsed and scanned by the transport; frozen and validated by the gate. */
  readonly arguments: unknown
  /** Values that the transport could not read exactly: such a call fails by its arguments. */
  readonly unreadable?: readonly UnreadableValue[]
}

/** A name that no capability has, and those that come near it. */
export type UnknownCapability = {
  readonly kind: 'unknown'
  readonly capability: string
  readonly error: CapabilityError
  readonly did_you_mean: readonly string[]
}

/**
 * Outcome of a call. Transports turn each kind into their own words; internal faults and an audit
 * log that cannot be written are thrown (`GatehouseError`).
 */
export type InvokeOutcome =
  | {
      readonly kind: 'succeeded'
      readonly capability: Capability
      readonly data: Readonly<Record<string, unknown>>
      readonly text: string | null
      /** Note to the agent beside the result: that a person changed its call. */
      readonly note?: string
    }
  | { readonly kind: 'failed'; readonly error: CapabilityError }
  | { readonly kind: 'pending'; readonly pending: PendingApproval }
  | {
      readonly kind: 'denied'
      readonly reason: 'policy' | 'agent_paused' | 'tool_set'
      readonly message: string
      readonly data: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'limited'
      readonly message: string
      readonly data: {
        /** Where it is no limit of policy: as many requests wait for a person as may. */
        readonly reason?: 'too_many_pending'
        readonly retry_after_seconds: number
        readonly limit: number
        readonly window: string
      }
    }
  | {
      readonly kind: 'overloaded'
      readonly message: string
      readonly data: Readonly<Record<string, unknown>>
    }
  | UnknownCapability

/** A tool as MCP lists it, before the transport gives it MCP's words. */
export type ListedCapability = {
  readonly capability: Capability
  readonly tier: 'autonomous' | 'approval_required'
}

/** The gate, as those see it who bring a call to it. */
export type Invoke = (op: AgentOp, input: InvokeInput) => Promise<InvokeOutcome>

/** Member of a result's `_meta` that names the upstream server which it came from: nobody here wrote it. */
export const upstreamKey = 'gatehouse/upstream'
