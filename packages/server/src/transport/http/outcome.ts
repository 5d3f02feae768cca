import { type CapabilityResult, type RpcErrorObject, rpcCodes } from '@gatehouse/contract'
import type { InvokeOutcome } from '../../app/call/invoke.ts'

export type RefusedOutcome = Extract<
  InvokeOutcome,
  { kind: 'denied' | 'limited' | 'overloaded' | 'unknown' }
>

/** The outcomes that are failures of the protocol, the same over JSON-RPC and MCP. */
export const refusedOutcome = (outcome: RefusedOutcome): RpcErrorObject => {
  switch (outcome.kind) {
    case 'denied':
      return {
        code: rpcCodes.policyDenied,
        message: outcome.message,
        data:
          outcome.reason === 'agent_paused'
            ? { ...outcome.data, reason: 'agent_paused' }
            : { reason: 'policy', ...outcome.data },
      }
    case 'limited':
      return { code: rpcCodes.rateLimited, message: outcome.message, data: outcome.data }
    case 'overloaded':
      return {
        code: rpcCodes.rateLimited,
        message: outcome.message,
        data: { reason: 'overloaded', ...outcome.data },
      }
    case 'unknown':
      return {
        code: rpcCodes.invalidParams,
        message: outcome.error.message,
        data: {
          did_you_mean: outcome.did_you_mean,
          type: outcome.error.type,
          recovery: outcome.error.recovery,
        },
      }
  }
}

/**
 * Answer to a request of JSON-RPC or MCP, whatever it asked for. `overloaded` makes the HTTP status of a lone request
 * 503.
 */
export type Answered<Result = unknown> =
  | { readonly result: Result }
  | { readonly error: RpcErrorObject; readonly overloaded?: boolean }

/** Outcome of a call, as `capabilities.invoke` answers it. */
export const rpcOutcome = (outcome: InvokeOutcome): Answered<CapabilityResult> => {
  switch (outcome.kind) {
    case 'succeeded':
      return outcome.note === undefined
        ? { result: { success: true, data: outcome.data } }
        : { result: { success: true, data: outcome.data, note: outcome.note } }
    case 'failed':
      return { result: { success: false, error: outcome.error } }
    case 'pending':
      return {
        error: {
          code: rpcCodes.approvalRequired,
          message: outcome.pending.message,
          data: outcome.pending,
        },
      }
    case 'overloaded':
      return { error: refusedOutcome(outcome), overloaded: true }
    default:
      return { error: refusedOutcome(outcome) }
  }
}
