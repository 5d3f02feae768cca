import { GatehouseError, type Session, type Transport } from '@gatehouse/contract'
import type { AgentOp } from '../call/op.ts'
import type { SessionTable } from './session-table.ts'

type Deps = { readonly sessions: SessionTable }
type Caller = Omit<AgentOp, 'session_id'>

export async function openSession(
  op: Caller,
  deps: Deps,
  input: { readonly transport: Transport; readonly client: Session['client'] },
): Promise<Session> {
  return deps.sessions.open(op, op.actor.name, input.transport, input.client)
}

/** Handshake in a session that began with its connection, before the client had said who it is. */
export async function initializeSession(
  op: AgentOp,
  deps: Deps,
  input: { readonly session_id: string; readonly client: NonNullable<Session['client']> },
): Promise<void> {
  await deps.sessions.initialize(op, input.session_id, op.actor.name, input.client)
}

/** The session of a client that names none: that of its token and of what it says it is. */
export async function openClientSession(
  op: Caller,
  deps: Deps,
  input: { readonly transport: Transport; readonly client: Session['client'] },
): Promise<string> {
  return deps.sessions.ofClient(op, input.transport, input.client)
}

export async function endSession(
  op: AgentOp,
  deps: Deps,
  { session_id }: { readonly session_id: string },
): Promise<{ session_id: string; ended_at: string }> {
  return { session_id, ended_at: await deps.sessions.end(op, session_id, op.actor.name) }
}

export function holdSession(
  { session_id, actor }: Pick<AgentOp, 'session_id' | 'actor'>,
  deps: Deps,
): Disposable {
  return deps.sessions.hold(session_id, actor.name)
}

/** An unknown session, an ended one and another agent's look the same from outside. */
export async function assertSession(
  op: Caller,
  deps: Deps,
  { session_id }: { readonly session_id: string },
): Promise<void> {
  if (!(await deps.sessions.find(session_id, op.actor.name)))
    throw new GatehouseError('SessionNotFound', { session_id })
}
