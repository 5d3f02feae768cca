import type { AgentOp } from '../../app/call/op.ts'
import { type OpenFor, TransportOp } from '../http/transport-op.ts'
import type { McpCall } from './peer.ts'

/** The operation in which one message is answered. */
export const opOfCall = (
  call: McpCall,
  requestId: string,
  progress?: AgentOp['progress'],
  said: Pick<OpenFor, 'trace' | 'agent_reason'> = {},
): AgentOp => {
  const { hold, gone, waiting } = call
  const { trace, agent_reason } = said
  const open = { hold, gone, waiting, progress, trace, agent_reason }
  return new TransportOp(call, requestId, call.cancellation, open)
}
