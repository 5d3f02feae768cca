import type { ListedAgent } from '@gatehouse/contract'
import type { Storage } from '../../ports/storage.ts'
import { agentRecord } from './agent-record.ts'

type Deps = { readonly storage: Pick<Storage, 'agents' | 'sessions'> }

/** Every agent by name, each with what connected last. */
export async function listAgents({ storage }: Deps): Promise<readonly ListedAgent[]> {
  const [agents, sessions] = await Promise.all([storage.agents.list(), storage.sessions.newest()])
  const newest = new Map(sessions.map((session) => [session.agent, session]))
  return agents.map((agent) => {
    const session = newest.get(agent.name)
    const last_session = session ? { transport: session.transport, client: session.client } : null
    return { ...agentRecord(agent), last_session }
  })
}
