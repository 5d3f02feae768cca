/** The JSON-RPC 2.0 codes of the contract. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  rateLimited: -32000,
  policyDenied: -32001,
  approvalRequired: -32002,
  authenticationFailed: -32003,
} as const

export type RpcId = string | number | null
export type RpcErrorObject = {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}
export type RpcResponse =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: unknown }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly error: RpcErrorObject }
