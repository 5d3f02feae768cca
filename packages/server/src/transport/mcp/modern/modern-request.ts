import type { UnreadableValue } from '../../../app/call/invoke.ts'
import type { Held } from '../../../app/call/memory-budget.ts'
import type { Members } from '../../http/envelope.ts'
import type { Exchange } from '../../http/exchanges.ts'
import { type OpenFor, TransportOp } from '../../http/transport-op.ts'
import type { McpDeps } from '../mcp-call.ts'
import type { PushStreams } from '../push-streams.ts'
import type { ClientSaid } from './client-said.ts'

export type ModernDeps = McpDeps & {
  readonly streams: PushStreams
  /** Address of the dashboard's page, once it is served. */
  readonly page: () => string | null
}

/** One request of the modern era, as whoever answers it gets it. */
export type ModernRequest = {
  readonly deps: ModernDeps
  readonly exchange: Exchange
  readonly held: Held
  /** As they were scanned and parsed once, not the SDK's copy of them. */
  readonly params: Members
  readonly unreadable: readonly UnreadableValue[] | undefined
  readonly client: ClientSaid
}

/** A request of an agent, in the session of its client. */
export type ModernCall = ModernRequest & {
  readonly session_id: string
  readonly requestId: string
}

/** The era has no sessions of its own, so each call belongs to that of its token and client. */
export const inSession = async (request: ModernRequest, requestId: string): Promise<ModernCall> => {
  const { deps, exchange, client } = request
  const caller = { actor: exchange.actor, session_id: null }
  const session_id = await deps.app.openClientSession(
    new TransportOp(caller, requestId, exchange, {}),
    { transport: 'mcp-http', client: client.info },
  )
  return { ...request, session_id, requestId }
}

export const opOf = (call: ModernCall, open: OpenFor = {}): TransportOp => {
  const { exchange, session_id, requestId, held } = call
  const who = { actor: exchange.actor, session_id, held }
  return new TransportOp(who, requestId, exchange, { gone: exchange.gone, ...open })
}
