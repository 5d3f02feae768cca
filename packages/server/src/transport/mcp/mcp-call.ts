import type { LogLevel } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { Hold } from '../../app/call/hold.ts'
import type { Held } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { ToolNames } from '../http/tool-names.ts'
import { type Cancellation, type OpenFor, TransportOp } from '../http/transport-op.ts'

/** Dependencies of every message of a peer. */
export type McpDeps = {
  readonly app: App
  readonly ids: Pick<Ids, 'next'>
  readonly log: Log
  readonly names: ToolNames
  readonly resultBytesMax: number
  /** Aborted when the service stops: calls that wait for a person are answered. */
  readonly stops: AbortSignal
}

/** Operation that one message is answered in. */
export type McpCall = {
  readonly actor: AgentOp['actor']
  readonly session_id: string | null
  readonly cancellation: Cancellation
  /** How long it may stay open for a person, with the others of its request; absent where it may not. */
  readonly hold?: Hold
  /** Aborted when nobody will read the answer, where that alone cancels nothing. */
  readonly gone?: Cancellation
  /** Told when a tool's call stays open for a person. */
  readonly waiting?: () => void
  readonly held: Held
  /** Waits until the peer has read enough of what it was sent; false where it never will. */
  readonly room?: () => Promise<boolean> | null
  /** Takes the answer of a tool the moment it is text, so that `room` counts it for the next one. */
  readonly deliver?: (text: string) => void
  /** Sends a notification that belongs to this call; absent where the carrier has no way. */
  readonly notify?: (text: string) => void
  /** Sends a notification to its session at any time, and says whether it has left; absent where there is none. */
  readonly push?: (text: string) => boolean | Promise<boolean>
  /** Of what its session wants to read of the logs of servers; absent where it has not said. */
  readonly logLevel?: LogLevel | undefined
  /** Keeps that for the session; absent where there is none. */
  readonly setLogLevel?: (level: LogLevel) => void
}

/** The operation in which one message is answered. */
export const opOfCall = (
  call: McpCall,
  requestId: string,
  progress?: AgentOp['progress'],
  said: Pick<OpenFor, 'trace' | 'agent_reason' | 'meta' | 'logs'> = {},
): AgentOp => {
  const { hold, gone, waiting } = call
  const { trace, agent_reason, meta, logs } = said
  const open = { hold, gone, waiting, progress, trace, agent_reason, meta, logs }
  return new TransportOp(call, requestId, call.cancellation, open)
}
