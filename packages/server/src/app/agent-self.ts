import type { AgentSelf, Briefing } from '../ports/capability.ts'
import type { Storage } from '../ports/storage.ts'
import { limitsOf } from './agent-limits.ts'
import type { Call } from './call.ts'
import { type ListDeps, listFor, listing } from './list-capabilities.ts'
import { type SessionTable, sessionRecord } from './session-table.ts'

type Deps = ListDeps & {
  readonly storage: Pick<Storage, 'limits'>
  readonly sessions: SessionTable
  readonly briefingOf: (call: Call, since: string | undefined) => Promise<Briefing>
}

/** What an agent may learn of itself, as of this call. */
export const selfOf = (deps: Deps, call: Call): AgentSelf => {
  const { agent, session } = call
  return {
    briefing: (since) => deps.briefingOf(call, since),
    whoami: async () => ({
      name: agent.name,
      purpose: agent.purpose,
      status: agent.status,
      approvals: agent.approvals,
      workspace: agent.workspace,
      roots: [
        { path: agent.workspace, read_only: false },
        ...agent.mounts.map(({ path, read_only }) => ({ path, read_only })),
      ],
      session_id: session?.id ?? null,
      created_at: new Date(agent.created_ms).toISOString(),
    }),
    async capabilities(category) {
      const capabilities = listFor(deps, agent, session, category).map((entry) => {
        const { name, purpose, permission_tier } = listing(entry)
        return { name, purpose, permission_tier }
      })
      return { capabilities, total: capabilities.length }
    },
    session: async () => ({ session: session ? sessionRecord(session) : null }),
    async policy() {
      const policy = deps.policy.current()
      const tiers = listFor(deps, agent, session)
      return {
        version: policy.version,
        autonomous: tiers
          .filter(({ tier }) => tier === 'autonomous')
          .map(({ capability }) => capability.name),
        approval_required: tiers
          .filter(({ tier }) => tier === 'approval_required')
          .map(({ capability }) => capability.name),
        limits: await limitsOf(deps, agent.name),
      }
    },
  }
}
