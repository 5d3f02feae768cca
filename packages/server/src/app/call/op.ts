import type { Logs, Role } from '@gatehouse/contract'
import type { Ids } from '../../ports/ids.ts'
import type { Hold } from './hold.ts'
import type { Held } from './memory-budget.ts'

/** Actor of an operation. Only the gate's own surfaces make these, from a credential they checked. */
export type Actor =
  | { readonly kind: 'agent'; readonly name: string; readonly credential: number }
  | {
      readonly kind: 'user'
      readonly label: string
      readonly role: Role
      readonly token_id: string
      /** When the person logged in, by the service clock; absent where a token acts. */
      readonly login_ms?: number
      /** Of the role `hook`: the agent in whose name it asks. */
      readonly agent?: string
    }
  | { readonly kind: 'system' }

/** One operation: who acts, in which session, under which request id, until when. */
export interface Op {
  readonly actor: Actor
  readonly request_id: string
  readonly session_id: string | null
  readonly signal: AbortSignal
  /** Aborts when nobody will read the answer, where that alone cancels nothing. */
  readonly gone?: AbortSignal | undefined
  /** Present where a call may stay open until a person decided, for agents that ask for it. */
  readonly hold?: Hold
  /** The W3C `traceparent` that came with the request, as it was sent; whoever reads it checks it. */
  readonly trace?: string
  /** Why the agent makes the call, in its own words. Kept and shown to people; it decides nothing. */
  readonly agent_reason?: string | undefined
  /** Members that the client put into `_meta` of its call, as they were sent; no digest and no approval covers them. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  /** Set where the transport can tell a caller how far a long call is. */
  readonly progress?: (done: number, total?: number, message?: string) => void
  /** Where what upstream servers write to the log of their client goes; absent where nobody reads it. */
  readonly logs?: Logs
  /** Told when a call stays open for a person and takes nobody's place meanwhile. */
  readonly waiting?: () => void
}

/** A use of a client's own tool that its hook asks about, as the client names it. */
export type ToolUse = {
  readonly client: string
  readonly tool: string
  readonly tool_use_id: string | null
}

/** An operation of an agent. */
export interface AgentOp extends Op {
  /** Present where a hook asks about what the client would do itself. */
  readonly tool_use?: ToolUse
  /** Memory of the request that the call came with; absent where it came with none. */
  readonly held?: Held
  readonly actor: Extract<Actor, { kind: 'agent' }>
}

/** An operation of the service itself, which ends with the given signal. */
export const systemOp = ({
  ids,
  signal,
}: {
  readonly ids: Ids
  readonly signal: AbortSignal
}): Op => ({
  actor: { kind: 'system' },
  request_id: ids.next('req'),
  session_id: null,
  signal,
})

/** Whether somebody still waits for the answer, as far as is known. */
export const isRead = ({ signal, gone }: Op): boolean => !signal.aborted && gone?.aborted !== true

export const actorText = (actor: Actor): string =>
  actor.kind === 'agent'
    ? `agent:${actor.name}`
    : actor.kind === 'user'
      ? `user:${actor.label}`
      : 'system'
