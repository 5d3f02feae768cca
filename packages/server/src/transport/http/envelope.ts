import { type RpcErrorObject, type RpcId, rpcCodes } from '@gatehouse/contract'
import type { UnreadableValue } from '../../app/call/invoke.ts'

/** Envelope of one element of a request. */
export type Envelope =
  | {
      readonly kind: 'request'
      readonly id: RpcId
      readonly method: string
      readonly params: unknown
      /** Of its arguments, where some have faults. */
      readonly unreadable?: readonly UnreadableValue[]
    }
  | {
      readonly kind: 'notification'
      readonly method: string
      readonly params: unknown
      readonly unreadable?: readonly UnreadableValue[]
    }
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly error: RpcErrorObject }

const idLengthMax = 256

export type Members = { readonly [name: string]: unknown }

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isId = (id: unknown): id is RpcId =>
  id === null ||
  (typeof id === 'string' && id.length <= idLengthMax) ||
  (typeof id === 'number' && Number.isFinite(id))

/** One request of a body or frame whose text has faults: it is refused or fails, the others are served. */
export class FaultyRequest {
  /** Envelope as it was read. */
  readonly envelope: Envelope
  /** The members that decide where it is answered. */
  readonly method: unknown
  readonly params: unknown

  constructor(envelope: Envelope, { method, params }: Members) {
    this.envelope = envelope
    this.method = method
    this.params = params
  }
}

const invalid = (detail: string, id: unknown): Envelope => ({
  kind: 'invalid',
  id: isId(id) ? id : null,
  error: { code: rpcCodes.invalidRequest, message: `Invalid request: ${detail}` },
})

/** Sorts one parsed element: request, notification, or neither. Unknown top-level members are ignored. */
export const readEnvelope = (value: unknown): Envelope => {
  if (!isMembers(value)) return invalid('a request is an object', null)
  if (value instanceof FaultyRequest) return value.envelope
  const { jsonrpc, id, method, params } = value
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"', id)
  if (typeof method !== 'string' || method === '') return invalid('method must be a string', id)
  if (id === undefined) return { kind: 'notification', method, params }
  if (!isId(id)) {
    return invalid('id must be a string of at most 256 characters, a number or null', null)
  }
  return { kind: 'request', id, method, params }
}
