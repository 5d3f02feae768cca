import type { CreateAgent, CreatedAgent } from '@gatehouse/contract'
import { toolSetOf } from '../../domain/tool-set.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { FilesFactory } from '../../ports/files.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import { agentWarnings, newToken, withToken } from './agent-record.ts'
import { beginningStatus } from './service-pause.ts'

export type CreateAgentDeps = Pick<Basics, 'auditLog' | 'clock' | 'ids' | 'digest'> & {
  readonly workspaces: Pick<Workspaces, 'pathOf' | 'site'>
  readonly files: FilesFactory
  readonly registry: Pick<CapabilityRegistry, 'names'>
}

export async function createAgent(
  op: Op,
  deps: CreateAgentDeps,
  input: CreateAgent,
): Promise<CreatedAgent> {
  deps.files.assertMounts(input.mounts)
  const { token, hash } = newToken(deps)
  const nowMs = deps.clock.wall()
  const made: StoredAgent = {
    name: input.name,
    purpose: input.purpose,
    status: 'active',
    approvals: input.approvals,
    workspace: deps.workspaces.pathOf(input.name),
    site: deps.workspaces.site,
    mounts: input.mounts,
    tools: toolSetOf(input.tools),
    limits: input.limits,
    created_ms: nowMs,
    last_connected_ms: null,
    total_invocations: 0,
    token_hash: hash,
    token_ms: nowMs,
    previous_token_hash: null,
    previous_until_ms: null,
    generation: 1,
  }
  const agent = await deps.auditLog.transaction(async (tx) => {
    const beginning = { ...made, status: await beginningStatus(tx.meta, made.name) }
    await tx.agents.insert(beginning)
    const { name, purpose, approvals, mounts, tools, limits } = beginning
    tx.append(
      actDraft(op, 'agent.created', {
        agent: name,
        arguments: { name, purpose, approvals, mounts, tools, limits },
      }),
    )
    return beginning
  })
  // The workspace is there from the start: people put files into it before the agent first calls.
  deps.files.open(agent)
  return { ...withToken(agent, token), warnings: agentWarnings(deps, agent) }
}
