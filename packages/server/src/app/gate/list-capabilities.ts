import type { CapabilityDescription, CapabilityListing } from '@gatehouse/contract'
import { GatehouseError } from '@gatehouse/contract'
import { inToolSet } from '../../domain/tool-set.ts'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PolicySource } from '../../ports/policy.ts'
import { type AgentDirectory, credentialEnded } from '../agents/agent-directory.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { ListedCapability, UnknownCapability } from '../call/invoke.ts'
import type { AgentOp } from '../call/op.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { unknownCapability } from '../call/unknown-capability.ts'
import type { Availability } from '../reach/availability.ts'

export type ListDeps = {
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly directory: AgentDirectory
  readonly sessions: SessionTable
  readonly clock: Clock
  readonly availability: Pick<Availability, 'lacking' | 'signature'>
  readonly settings: { readonly 'mcp.tools_max': number }
}

/** The group that finds and calls the others. */
const searchGroup = 'tools'

/**
 * Capabilities for an agent: each of its tool set that some call of it could pass and that has here what it
 * needs, with the tier to expect. Those that find and call the others are among them where there are many.
 */
export const listFor = async (
  deps: Pick<ListDeps, 'availability' | 'clock' | 'settings'> & {
    readonly registry: Pick<CapabilityRegistry, 'list'>
    readonly policy: Pick<PolicySource, 'current'>
  },
  agent: StoredAgent,
  session: StoredSession | null,
  category?: string,
): Promise<readonly ListedCapability[]> => {
  const lacking = await deps.availability.lacking(agent.name)
  const policy = deps.policy.current()
  const nowMs = deps.clock.wall()
  const all = deps.registry.list().flatMap((capability): ListedCapability[] => {
    const { name, group, performer } = capability
    if (
      performer === 'client' ||
      lacking.has(group) ||
      lacking.has(name) ||
      !inToolSet(agent.tools, name)
    )
      return []
    const tier = policy.listed(buildQuestion(agent, session, name, {}, nowMs))
    return tier === 'blocked' ? [] : [{ capability, tier }]
  })
  const others = all.filter(({ capability }) => capability.group !== searchGroup)
  const listed = others.length <= deps.settings['mcp.tools_max'] ? others : all
  return category === undefined
    ? listed
    : listed.filter(({ capability }) => capability.group === category)
}

const callerOf = (op: AgentOp, deps: ListDeps) => {
  const agent = deps.directory.holder(op.actor.name, op.actor.credential)
  if (!agent) throw credentialEnded()
  return {
    agent,
    session: op.session_id === null ? null : deps.sessions.use(op.session_id, agent.name),
  }
}

export const listCapabilities = async (
  op: AgentOp,
  deps: ListDeps,
  input: { readonly category?: string },
): Promise<readonly ListedCapability[]> => {
  const { agent, session } = callerOf(op, deps)
  return listFor(deps, agent, session, input.category)
}

/** Tools that an agent may use now, for people. Raises `AgentNotFound`. */
export const listToolsOf = async (
  deps: ListDeps,
  { name }: { readonly name: string },
): Promise<readonly ListedCapability[]> => {
  const agent = await deps.directory.find(name)
  if (!agent) throw new GatehouseError('AgentNotFound', { agent: name })
  return listFor(deps, agent, null)
}

export const listing = ({ capability, tier }: ListedCapability): CapabilityListing => {
  const { name, version, purpose, inputs, outputs } = capability.description
  return { name, version, purpose, permission_tier: tier, inputs, outputs }
}

export const describe = ({ capability, tier }: ListedCapability): CapabilityDescription => ({
  ...capability.description,
  permission_tier: tier,
})

export type Described =
  | { readonly kind: 'described'; readonly description: CapabilityDescription }
  | UnknownCapability
  | {
      readonly kind: 'blocked'
      readonly message: string
      readonly data: Readonly<Record<string, unknown>>
    }

const outsideToolSet = ({ name: agent }: StoredAgent, capability: string): Described => {
  const { message } = new GatehouseError('OutsideToolSet', { agent, capability })
  return { kind: 'blocked', message, data: { reason: 'tool_set' } }
}

export const describeCapability = async (
  op: AgentOp,
  deps: ListDeps,
  { name }: { readonly name: string },
): Promise<Described> => {
  const { agent, session } = callerOf(op, deps)
  const capability = deps.registry.find(name)
  if (capability?.performer !== 'service') return unknownCapability(deps.registry, name)
  if (!inToolSet(agent.tools, name)) return outsideToolSet(agent, name)
  const tier = deps.policy
    .current()
    .listed(buildQuestion(agent, session, name, {}, deps.clock.wall()))
  if (tier !== 'blocked') return { kind: 'described', description: describe({ capability, tier }) }
  const error = new GatehouseError('PolicyDenied', {
    agent: agent.name,
    capability: name,
    detail: 'it is blocked',
  })
  return { kind: 'blocked', message: error.message, data: { reason: 'blocked' } }
}
