import { type Agent, type EditAgent, type EditedAgent, GatehouseError } from '@gatehouse/contract'
import { toolSetOf } from '../../domain/tool-set.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { agentRecord, agentWarnings } from './agent-record.ts'
import type { ChangeAgentDeps } from './change-agent.ts'
import type { CreateAgentDeps } from './create-agent.ts'

type Deps = Pick<ChangeAgentDeps, 'auditLog' | 'events' | 'directory'> &
  Pick<CreateAgentDeps, 'files'> & { readonly registry: Pick<CapabilityRegistry, 'names'> }

export type EditInput = {
  readonly name: string
  readonly changes: EditAgent
  /** Versions of which one must be the agent's; null where any will do. */
  readonly versions: readonly string[] | null
}

export type EditOutcome =
  | ({ readonly kind: 'edited' } & EditedAgent)
  /** Somebody else was faster: the record as it is now. */
  | { readonly kind: 'changed'; readonly agent: Agent }

/** Fields that are really different. */
const differences = (current: StoredAgent, changes: EditAgent): Partial<StoredAgent> => {
  const { tools, ...others } = changes
  const wanted = { ...others, ...(tools ? { tools: toolSetOf(tools) } : {}) }
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) =>
        value !== undefined &&
        JSON.stringify(value) !== JSON.stringify(current[field as keyof StoredAgent]),
    ),
  )
}

/** Changes what a person said of an agent. Its next message on any connection meets the new record. */
export async function editAgent(op: Op, deps: Deps, input: EditInput): Promise<EditOutcome> {
  const { name, changes, versions } = input
  deps.files.assertMounts(changes.mounts ?? [])
  const stored = await deps.directory.changing(() =>
    deps.auditLog.transaction(async (tx) => {
      const current = await tx.agents.find(name)
      if (!current) throw new GatehouseError('AgentNotFound', { agent: name })
      if (versions && !versions.includes(String(current.generation)))
        return { agent: current, kind: 'changed' }
      if (current.status === 'revoked')
        throw new GatehouseError('AgentStateConflict', {
          ...{ agent: name, status: current.status, detail: 'restore it first' },
        })
      const different = differences(current, changes)
      if (Object.keys(different).length === 0) return { agent: current, kind: 'same' }
      const next = { ...current, ...different, generation: current.generation + 1 }
      if (!(await tx.agents.replace(current, next)))
        throw new GatehouseError('Conflict', {
          detail: `Agent ${name} was changed by somebody else; try again.`,
        })
      tx.append(actDraft(op, 'agent.edited', { agent: name, arguments: { name, ...different } }))
      return { agent: next, kind: 'edited' }
    }),
  )
  const { agent, kind } = stored
  if (kind === 'changed') return { kind, agent: agentRecord(agent) }
  if (kind === 'edited') {
    deps.directory.changed(agent)
    deps.events.publish({ type: 'agent.edited', agent: name, data: { status: agent.status } })
  }
  return { kind: 'edited', agent: agentRecord(agent), warnings: agentWarnings(deps, agent) }
}
