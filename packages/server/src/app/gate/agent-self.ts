import { didYouMean, GatehouseError } from '@gatehouse/contract'
import type { AgentSelf, Briefing } from '../../ports/capability.ts'
import type { Storage } from '../../ports/storage.ts'
import { type SessionTable, sessionRecord } from '../agents/session-table.ts'
import { limitsOf } from '../call/agent-limits.ts'
import type { Call } from '../call/call.ts'
import type { ListedCapability } from '../call/invoke.ts'
import { describe, type ListDeps, listFor, listing } from './list-capabilities.ts'

type Deps = ListDeps & {
  readonly storage: Pick<Storage, 'limits'>
  readonly sessions: SessionTable
  readonly briefingOf: (call: Call, since: string | undefined) => Promise<Briefing>
}

const isNamed = ({ capability }: ListedCapability, name: string): boolean =>
  capability.name === name

const unlisted = (wanted: string, listed: readonly ListedCapability[]): GatehouseError => {
  const names = listed.map(({ capability }) => capability.name)
  const detail = `you may use no ${wanted}.${didYouMean(wanted, names)}`
  const recovery = [{ action: 'agent.capabilities', description: 'Leave name out to list all.' }]
  return new GatehouseError(
    'InvalidArguments',
    { capability: 'agent.capabilities', detail },
    { recovery },
  )
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
      const meant = wanted === undefined ? listed : listed.filter((one) => isNamed(one, wanted))
      const [first] = meant
      if (wanted !== undefined && !first) throw unlisted(wanted, listed)
      const capabilities = meant.map((entry) => {
        const { name, purpose, permission_tier } = listing(entry)
        return { name, purpose, permission_tier }
      })
      const found = { capabilities, total: capabilities.length }
      return wanted !== undefined && first ? { ...found, definition: describe(first) } : found
    },
    session: async () => ({ session: session ? sessionRecord(session) : null }),
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
        limits: await limitsOf(deps, agent.name),
      }
    },
  }
}
