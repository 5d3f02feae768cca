import { GatehouseError } from '@gatehouse/contract'
import type { Op } from '../call/op.ts'
import type { AgentUseCases } from './agents.ts'

const name = 'first-agent'

/** The agent that a new installation begins with, and its token. Null where one of this name is there already. */
export async function createFirstAgent(
  op: Op,
  app: Pick<AgentUseCases, 'listAgents' | 'createAgent'>,
): Promise<string | null> {
  if ((await app.listAgents(op)).some((agent) => agent.name === name)) return null
  const created = app.createAgent(op, {
    name,
    purpose: 'The agent that came with the installation',
    approvals: 'pending',
    mounts: [],
    tools: [],
    limits: [],
  })
  return created.then(
    ({ token }) => token,
    (cause: unknown) => {
      // Of nodes that start at once on a new store, one makes it.
      if (cause instanceof GatehouseError && cause.type === 'AgentExists') return null
      throw cause
    },
  )
}
