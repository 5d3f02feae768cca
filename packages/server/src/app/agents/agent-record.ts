import type { Agent, AgentWithToken } from '@gatehouse/contract'
import { covers } from '../../domain/policy/match.ts'
import { unmatchedIn } from '../../domain/tool-set.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { Basics } from '../call/basics.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export const agentRecord = (agent: StoredAgent): Agent => ({
  name: agent.name,
  purpose: agent.purpose,
  status: agent.status,
  created_at: iso(agent.created_ms),
  last_connected: agent.last_connected_ms === null ? null : iso(agent.last_connected_ms),
  total_invocations: agent.total_invocations,
  approvals: agent.approvals,
  workspace: agent.workspace,
  site: agent.site,
  mounts: [...agent.mounts],
  tools: [...agent.tools],
  limits: [...agent.limits],
  version: agent.generation,
  token_created_at: iso(agent.token_ms),
  token_fingerprint: agent.token_hash.slice(0, 8),
})

/** A new agent token: 64 hex characters, of which only the hash is kept. */
export const newToken = (deps: Pick<Basics, 'ids' | 'digest'>): { token: string; hash: string } => {
  const token = deps.ids.secret().toString('hex')
  return { token, hash: deps.digest.sha256(token) }
}

export const withToken = (agent: StoredAgent, token: string): AgentWithToken => ({
  agent: agentRecord(agent),
  token,
})

/** Patterns of the agent's tool set and of its limits that are probably not what was meant. */
export const agentWarnings = (
  { registry }: { readonly registry: Pick<CapabilityRegistry, 'names'> },
  { name, status, tools, limits }: StoredAgent,
): string[] => {
  const names = registry.names()
  const idle = limits.filter(
    ({ match }) => !names.some((name) => match === '*' || covers(match, name)),
  )
  return [
    ...(status === 'paused'
      ? [`${name} is paused: no call of it is made until it is resumed.`]
      : []),
    ...unmatchedIn(tools, names).map((pattern) => `${pattern} matches no tool that is known now.`),
    ...idle.map(({ match }) => `The limit for ${match} counts nothing that is known now.`),
  ]
}
