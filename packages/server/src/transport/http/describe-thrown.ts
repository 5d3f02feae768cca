import {
  declaredFacts,
  type ErrorType,
  GatehouseError,
  type RpcErrorObject,
  rpcCodes,
} from '@gatehouse/contract'
import type { Log } from '../../ports/log.ts'

/** A failure as JSON-RPC tells it. `correlation_id` leads to the entry in the log of the service. */
export const toRpcError = (error: GatehouseError, correlation_id?: string): RpcErrorObject => {
  return {
    code: error.entry.rpc ?? rpcCodes.internalError,
    message: error.message,
    data: {
      ...declaredFacts(error),
      ...(correlation_id === undefined ? {} : { correlation_id }),
      type: error.type,
      ...(error.recovery.length > 0 ? { recovery: error.recovery } : {}),
    },
  }
}

export const rpcError = (
  type: ErrorType,
  facts: Readonly<Record<string, unknown>>,
): RpcErrorObject => toRpcError(new GatehouseError(type, facts))

export type ThrownError = { readonly error: RpcErrorObject; readonly unavailable: boolean }

/**
 * Failure as the peer may see it. An unforeseen one is logged under the id that the
 * answer carries, and nothing else of it leaves the process.
 *
 * @SECURITY Messages of unknown exceptions quote SQL, paths and stacks; rpc.test.ts.
 */
export const describeThrown = (thrown: unknown, requestId: string, log: Log): ThrownError => {
  if (thrown instanceof GatehouseError && thrown.type !== 'InternalError') {
    const { http } = thrown.entry
    if (http < 500) return { error: toRpcError(thrown), unavailable: false }
    log.error({ request_id: requestId, err: thrown }, 'a call was refused')
    return { error: toRpcError(thrown, requestId), unavailable: http === 503 }
  }
  log.error({ request_id: requestId, err: thrown }, 'a call failed unexpectedly')
  return { error: rpcError('InternalError', { correlation_id: requestId }), unavailable: false }
}
