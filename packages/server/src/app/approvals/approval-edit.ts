import { type ApprovalId, GatehouseError } from '@gatehouse/contract'
import { decideTool } from '../../domain/policy/tools.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { actDraft, callFacts } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, callDraft, recordedAs } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { actorText, type Op } from '../call/op.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { validateArguments } from '../call/validate-arguments.ts'
import { bindRequest } from './bind-request.ts'

export type EditDeps = Basics & {
  readonly registry: CapabilityRegistry
  readonly policy: PolicySource
  readonly node: string
  readonly directory: AgentDirectory
  readonly contexts: ContextFactory
  readonly settings: { readonly 'approvals.ttl': number }
}

type Arguments = Readonly<Record<string, unknown>>

/**
 * Makes the request that runs in place of the one asked for: checked by the schema and by policy like any
 * call, with what it resolves to looked up again, under its own digest.
 */
export async function prepareEdit(
  op: Op,
  deps: EditDeps,
  original: StoredApproval,
  decided: Arguments,
): Promise<StoredApproval> {
  const { agent: name, capability: called } = original
  const refuse = (detail: string) => new GatehouseError('EditRefused', { detail })
  const agent = await deps.directory.find(name)
  if (agent?.status !== 'active') throw refuse(`agent ${name} is ${agent?.status ?? 'gone'}`)
  const capability = deps.registry.find(called)
  if (!capability) throw refuse(`there is no ${called} any more`)
  // @SECURITY The digest of a critical call is one that the person was shown; approval-edit.test.ts.
  if (original.critical || capability.critical)
    throw refuse(
      `${called} is critical and runs only as it was shown; reject it and say what to change`,
    )
  if (capability.performer === 'client')
    throw refuse('the client does it by itself, as it asked for; reject it and say what to change')
  const validated = validateArguments(capability, decided)
  if (validated.kind === 'invalid') {
    const { recovery } = validated.error
    const detail = recovery.map(({ description }) => description).join(' ')
    throw new GatehouseError('InvalidArguments', { capability: called, detail }, { recovery })
  }
  const { args } = validated
  await deps.contexts.placement.assertHere({ agent, capability, args })
  const places = { capability, contexts: deps.contexts }
  const question = buildQuestion(agent, null, called, args, deps.clock.wall(), places)
  const decision = decideTool(deps.policy.current(), question)
  if (decision.kind === 'deny')
    throw refuse(
      `policy blocks it with these arguments${decision.reason ? `: ${decision.reason}` : ''}`,
    )
  const agentOp = {
    actor: { kind: 'agent', name, credential: 0 },
    request_id: op.request_id,
    session_id: original.session_id,
    signal: op.signal,
  } as const
  if (decision.critical)
    throw refuse('policy calls it critical with these arguments; reject it and say what to change')
  const call: Call = {
    op: agentOp,
    agent,
    session: null,
    capability,
    args,
    sent: decided,
    rule: decision.rule,
    reason: decision.reason,
    startedAt: performance.now(),
    agreed: true,
    ...(decision.network ? { network: decision.network } : {}),
  }
  await deps.contexts.assertRunnable(call)
  const { request: bound } = await bindRequest(deps, call)
  const [from, request] = [original.id as ApprovalId, bound.id as ApprovalId]
  const edit = { original: from, request, decided, effective: args }
  return {
    ...bound,
    status: 'approved',
    decided_ms: deps.clock.wall(),
    decided_by: actorText(op.actor),
    // No call of the agent finds this request, since nobody asked for these arguments.
    call_key: bound.id,
    delivered: 'yes',
    edit,
  }
}

/** Records the change: what the person wrote under the original, what runs under the new request. */
export async function storeEdit(
  op: Op,
  deps: Pick<EditDeps, 'registry'>,
  tx: AuditTransaction,
  original: StoredApproval,
  edited: StoredApproval,
): Promise<void> {
  const { edit } = edited
  if (!edit) return
  const recorded = recordedAs(deps.registry, edited.capability)
  const { agent, session_id, digest } = edited
  const detail = {
    edited_request: edited.id,
    original_digest: original.digest,
    digest,
    ...callFacts('approvals', edited.capability, edited.arguments_json),
  }
  await tx.approvals.insert(edited)
  tx.append({
    ...actDraft(op, 'approval.edited', {
      agent,
      arguments: edit.decided,
      approval_id: original.id,
      detail,
    }),
    ...(recorded.redact.length > 0 ? { redact: recorded.redact } : {}),
  })
  const actor = { kind: 'agent', name: agent, credential: 0 } as const
  tx.append({
    ...callDraft({ ...op, actor, session_id }, recorded, edit.effective, {
      result: 'pending',
      policy_decision: 'approval_required',
      rule: edited.rule,
      approval_id: edited.id,
      detail: { edited_from: original.id },
    }),
    actor: actorText(op.actor),
  })
}

/**
 * Gives the original request what became of the edited one, in the same transaction, so that the agent
 * finds the real result where it waits for it. Returns the original if it changed.
 */
export async function tellOriginal(
  tx: AuditTransaction,
  edited: StoredApproval,
): Promise<StoredApproval | null> {
  if (edited.edit?.request !== edited.id) return null
  const original = await tx.approvals.find(edited.edit.original)
  if (original?.status !== 'approved' || original.execution !== 'running') return null
  const { execution, result, result_text } = edited
  const { changed, approval } = await tx.approvals.replace(original, {
    ...original,
    execution,
    result,
    result_text,
  })
  return changed ? approval : null
}
