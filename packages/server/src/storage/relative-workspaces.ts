import { posix } from 'node:path'
import type { AgentStore, StoredAgent } from '../ports/agents.ts'
import type { Storage, Stores } from '../ports/storage.ts'

/**
 * Keeps workspaces relative to the node's folder for them, so that each node that shares the store, and the same data
 * in another place, finds them where they lie there. A workspace in no such folder stays as it is.
 */
export const withRelativeWorkspaces = (storage: Storage, folder: string): Storage => {
  const below = `${posix.resolve(folder)}/`
  const kept = (agent: StoredAgent): StoredAgent =>
    agent.workspace.startsWith(below)
      ? { ...agent, workspace: agent.workspace.slice(below.length) }
      : agent
  const found = (agent: StoredAgent): StoredAgent => ({
    ...agent,
    workspace: posix.resolve(below, agent.workspace),
  })
  const foundOrNone = async (agent: Promise<StoredAgent | null>) => {
    const known = await agent
    return known && found(known)
  }
  const agentsOf = (agents: AgentStore): AgentStore => ({
    ...agents,
    insert: (agent) => agents.insert(kept(agent)),
    find: (name) => foundOrNone(agents.find(name)),
    findByTokenHash: (hash) => foundOrNone(agents.findByTokenHash(hash)),
    list: async () => (await agents.list()).map(found),
    replace: (current, next) => agents.replace(kept(current), kept(next)),
    async changedSince(place) {
      const changes = await agents.changedSince(place)
      return { ...changes, agents: changes.agents.map(found) }
    },
  })
  const over = <T extends Stores>(stores: T): T => ({ ...stores, agents: agentsOf(stores.agents) })
  return {
    ...over(storage),
    transaction: (work) => storage.transaction((tx) => work(over(tx))),
  }
}
