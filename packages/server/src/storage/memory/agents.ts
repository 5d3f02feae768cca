import { GatehouseError } from '@gatehouse/contract'
import type { AgentStore, SessionStore, StoredSession } from '../../ports/agents.ts'
import { type Access, compareText } from './state.ts'

const lastChange = (changes: ReadonlyMap<string, number>): number =>
  Math.max(0, ...changes.values())

export const memoryAgents = ({ state, write }: Access): AgentStore => {
  const all = () => [...state().agents.values()].toSorted((a, b) => compareText(a.name, b.name))
  return {
    insert: (agent) =>
      write(({ agents, agentChanges }) => {
        if (agents.has(agent.name)) throw new GatehouseError('AgentExists', { agent: agent.name })
        agents.set(agent.name, structuredClone(agent))
        agentChanges.set(agent.name, lastChange(agentChanges) + 1)
      }),

    find: async (name) => state().agents.get(name) ?? null,

    findByTokenHash: async (hash) =>
      all().find((agent) => agent.token_hash === hash) ??
      all().find((agent) => agent.previous_token_hash === hash) ??
      null,

    list: async () => all(),

    replace: (current, next) =>
      write(({ agents, agentChanges }) => {
        const stored = agents.get(current.name)
        if (stored?.generation !== current.generation) return false
        const { name, total_invocations, last_connected_ms } = stored
        const kept = { name, total_invocations, last_connected_ms }
        agents.set(name, { ...structuredClone(next), ...kept })
        agentChanges.set(name, lastChange(agentChanges) + 1)
        return true
      }),

    async changedSince(place) {
      const { agents, agentChanges } = state()
      const later = [...agentChanges]
        .filter(([, change]) => change > place)
        .toSorted(([, a], [, b]) => a - b)
      return {
        agents: later.flatMap(([name]) => agents.get(name) ?? []),
        place: later.at(-1)?.[1] ?? place,
      }
    },

    connected: (name, ms) =>
      write(({ agents }) => {
        const stored = agents.get(name)
        if (stored) agents.set(name, { ...stored, last_connected_ms: ms })
      }),
  }
}

const newestFirst = (a: StoredSession, b: StoredSession): number =>
  b.created_ms - a.created_ms || compareText(b.id, a.id)

export const memorySessions = ({ state, write }: Access): SessionStore => ({
  insert: (session) =>
    write(({ sessions }) => {
      if (sessions.has(session.id))
        throw new GatehouseError('Conflict', { detail: `session ${session.id} is there` })
      sessions.set(session.id, structuredClone(session))
    }),

  find: async (id) => state().sessions.get(id) ?? null,

  listOf: async (agent, limit) =>
    [...state().sessions.values()]
      .filter((session) => session.agent === agent)
      .toSorted(newestFirst)
      .slice(0, limit),

  end: (id, ms) =>
    write(({ sessions }) => {
      const stored = sessions.get(id)
      if (stored?.ended_ms !== null) return false
      sessions.set(id, { ...stored, ended_ms: ms })
      return true
    }),

  endAll: (ms, agent) =>
    write(({ sessions }) => {
      const open = [...sessions.values()].filter(
        (session) => session.ended_ms === null && (agent ?? session.agent) === session.agent,
      )
      for (const session of open) sessions.set(session.id, { ...session, ended_ms: ms })
      return open.length
    }),

  countOpen: async () =>
    [...state().sessions.values()].filter((session) => session.ended_ms === null).length,
})
