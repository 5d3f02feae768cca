import { didYouMean, GatehouseError } from '@gatehouse/contract'
import type { AgentSelf, Briefing } from '../../ports/capability.ts'
import type { Storage } from '../../ports/storage.ts'
import type { ToolSearch } from '../../ports/tool-search.ts'
import { type SessionTable, sessionRecord } from '../agents/session-table.ts'
import { limitsOf } from '../call/agent-limits.ts'
import type { Call } from '../call/call.ts'
import type { ListedCapability } from '../call/invoke.ts'
import { describe, type ListDeps, listFor, listing } from './list-capabilities.ts'

type Deps = ListDeps & {
  readonly storage: Pick<Storage, 'limits' | 'sessions'>
  readonly sessions: SessionTable
  readonly toolSearch: ToolSearch
  readonly briefingOf: (call: Call, since: string | undefined) => Promise<Briefing>
}

const isNamed = ({ capability }: ListedCapability, name: string): boolean =>
  capability.name === name

const brief = (entry: ListedCapability) => {
  const { name, purpose, permission_tier } = listing(entry)
  return { name, purpose, permission_tier }
}

const recoveryOf = {
  'agent.capabilities': [
    { action: 'agent.capabilities', description: 'Leave name out to list all.' },
  ],
  'tools.describe': [{ action: 'tools.search', description: 'Find the tool by what it does.' }],
} as const

/** The one of that name. Raises `InvalidArguments` in the name of the capability that looks for it. */
const meant = (
  capability: keyof typeof recoveryOf,
  wanted: string,
  listed: readonly ListedCapability[],
): ListedCapability => {
  const found = listed.find((one) => isNamed(one, wanted))
  if (found) return found
  const names = listed.map((one) => one.capability.name)
  const detail = `you may use no ${wanted}.${didYouMean(wanted, names)}`
  const recovery = recoveryOf[capability]
  throw new GatehouseError('InvalidArguments', { capability, detail }, { recovery })
}

/** Facts that an agent may learn about itself, as of this call. */
export const buildSelf = (deps: Deps, call: Call): AgentSelf => {
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
    async capabilities({ category, name: wanted }) {
      const listed = await listFor(deps, agent, session, category)
      if (wanted === undefined) return { capabilities: listed.map(brief), total: listed.length }
      const one = meant('agent.capabilities', wanted, listed)
      return { capabilities: [brief(one)], total: 1, definition: describe(one) }
    },
    async searchTools(query, limit) {
      const listed = await listFor(deps, agent, session)
      const byName = new Map(listed.map((entry) => [entry.capability.name, entry]))
      const found = (await deps.toolSearch.search(query)).flatMap((name) => byName.get(name) ?? [])
      return { tools: found.slice(0, limit).map(brief), total: found.length }
    },
    async describeTool(name) {
      const one = meant('tools.describe', name, await listFor(deps, agent, session))
      const { input_schema } = one.capability
      return { definition: { ...describe(one), input_schema } }
    },
    async session() {
      // How many calls it had is counted in the store.
      const stored = session && (await deps.storage.sessions.find(session.id))
      return { session: stored && sessionRecord(stored) }
    },
    async policy() {
      const policy = deps.policy.current()
      const tiers = await listFor(deps, agent, session)
      return {
        version: policy.version,
        autonomous: tiers
          .filter(({ tier }) => tier === 'autonomous')
          .map(({ capability }) => capability.name),
        approval_required: tiers
          .filter(({ tier }) => tier === 'approval_required')
          .map(({ capability }) => capability.name),
        limits: await limitsOf(deps, agent),
      }
    },
  }
}
