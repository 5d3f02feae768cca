import { GatehouseError } from '@gatehouse/contract'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { SessionTable } from '../agents/session-table.ts'
import { Hold } from '../call/hold.ts'
import type { Invoke, InvokeInput, InvokeOutcome } from '../call/invoke.ts'
import type { AgentOp, Op, ToolUse } from '../call/op.ts'

/** Clients give up on a hook after 600 s at most; what waits is answered before that. */
const holdMsMax = 590_000

export type ToolQuestion = {
  readonly use: ToolUse
  /** The call of a capability that the client performs. */
  readonly call: InvokeInput
}

export type ToolAnswer = {
  readonly outcome: InvokeOutcome
  /** Whether the question stayed open for a person. */
  readonly waited: boolean
}

/**
 * Asks the gate whether a client may use a tool of its own, in the name of the agent that the token is for.
 * Raises `AgentNotFound` where that one is gone.
 */
export async function useTool(
  op: Op,
  deps: {
    readonly directory: AgentDirectory
    readonly sessions: SessionTable
    readonly invoke: Invoke
  },
  { use, call }: ToolQuestion,
): Promise<ToolAnswer> {
  const { actor, request_id, signal } = op
  // @SECURITY The token says who asks, never the request; client-tools.test.ts.
  const name = actor.kind === 'user' ? actor.agent : undefined
  const agent = name === undefined ? null : await deps.directory.standIn(name)
  if (!agent) throw new GatehouseError('AgentNotFound', { agent: name ?? 'of this token' })
  let waited = false
  const asked: Omit<AgentOp, 'session_id'> = {
    actor: { kind: 'agent', name: agent.name, credential: agent.credential },
    request_id,
    signal,
    tool_use: use,
    hold: new Hold(undefined, holdMsMax),
    waiting: () => {
      waited = true
    },
  }
  const client = { name: use.client, version: '' }
  const session_id = await deps.sessions.ofClient(asked, 'hook', client)
  const outcome = await deps.invoke({ ...asked, session_id }, call)
  return { outcome, waited }
}
