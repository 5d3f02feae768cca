import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Refusal, refusalBody, refuse, sendJson } from '../http/respond.ts'
import type { FastResponse } from './fast-path/fast-response.ts'

/** A request to the gateway: its head read by node:http, or the whole by the fast path. */
export type GatewayRequest = {
  readonly method: string
  readonly path: string
  readonly rawHeaders: readonly string[]
  readonly socket: Socket
} & (
  | {
      readonly by: 'node'
      readonly req: IncomingMessage
      readonly res: ServerResponse
      readonly continues: boolean
    }
  | { readonly by: 'fast path'; readonly res: FastResponse; readonly body: Buffer }
)

/** One form for both: a request that has a body is refused by closing its connection. */
export const refuseRequest = (request: GatewayRequest, refusal: Refusal): void => {
  if (request.by === 'node') return refuse(request.req, request.res, refusal)
  const headers = { Connection: 'close', ...refusal.headers }
  sendJson(request.res, refusal.status, refusalBody(refusal), headers)
}
