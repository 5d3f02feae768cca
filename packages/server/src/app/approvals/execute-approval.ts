import { errorTable, GatehouseError } from '@gatehouse/contract'
import { freezeDeep } from '../../domain/arguments.ts'
import { failureOf } from '../../domain/failure.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import { inToolSet } from '../../domain/tool-set.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, callDraft, recordedAs } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { decideCall } from '../call/decide-call.ts'
import type { CallRoom, Held, MemoryBudget } from '../call/memory-budget.ts'
import { placesOf } from '../call/policy-question.ts'
import { untilStored } from '../call/until-stored.ts'
import { outcomeDraft } from '../gate/invoke-capability.ts'
import { type RunDeps, type RunResult, runCapability } from '../gate/invoke-run.ts'
import { announceChange } from './announce-change.ts'
import { tellOriginal } from './approval-edit.ts'
import type { ApprovalSignals } from './approval-signals.ts'
import { digestPrefix } from './bind-request.ts'

export type ExecuteDeps = Basics &
  RunDeps & {
    readonly registry: CapabilityRegistry
    readonly policy: PolicySource
    readonly directory: AgentDirectory
    readonly memory: MemoryBudget
    readonly contexts: ContextFactory
    readonly signals: ApprovalSignals
    /** Names this node in `exec_id`, so that a restart knows which runs were its own. */
    readonly node: string
    readonly signal: AbortSignal
  }

const policy_decision = 'approval_required'

/**
 * Runs an approved request, at most once: the claim is durable before the effect, and nothing but a
 * claim made here leads to a run. What no longer holds since the decision is refused, with its reason.
 */
export async function executeApproval(deps: ExecuteDeps, approval_id: string): Promise<void> {
  const approval = await deps.storage.approvals.find(approval_id)
  if (approval?.status !== 'approved' || approval.execution !== 'waiting') return
  const held = deps.memory.hold(approval.agent, 0)
  try {
    using room = await roomFor(deps, held, approval)
    // The service stops: it runs after the next start.
    if (!room) return
    const prepared = await prepareExecution(deps, approval)
    if (prepared.kind === 'away') return
    if (prepared.kind === 'refused') return await refuse(deps, approval, prepared)
    const call = { ...prepared.call, room }
    const intent_id = await claim(deps, approval, call)
    if (intent_id === null) return
    const result = await runCapability(deps, call)
    await finish(deps, call, approval_id, intent_id, result)
  } finally {
    held.release()
  }
}

/** An approved call is never refused for lack of memory: it waits. Null when the service stops. */
async function roomFor(
  { registry, signal }: ExecuteDeps,
  held: Held,
  approval: StoredApproval,
): Promise<CallRoom | null> {
  const bytesMax = registry.find(approval.capability)?.result_bytes_max ?? 0
  try {
    return await held.room(bytesMax, () => ({ signal }))
  } catch (cause) {
    if (signal.aborted) return null
    throw cause
  }
}

type Prepared =
  | { readonly kind: 'ready'; readonly call: Call }
  /** Files or programs that it touches are on another node, which checks and runs it. */
  | { readonly kind: 'away' }
  /** `detail`: what has changed since the request was made. */
  | { readonly kind: 'refused'; readonly error: GatehouseError; readonly detail: string }

/** Checks again all that the decision relied on: agent, policy, definition, digest and what it resolves to. */
export async function prepareExecution(
  deps: ExecuteDeps,
  approval: StoredApproval,
): Promise<Prepared> {
  const refused = (detail: string): Prepared => ({
    kind: 'refused',
    detail,
    error: new GatehouseError('ApprovalStale', { approval_id: approval.id, detail }),
  })
  const agent = await deps.directory.find(approval.agent)
  if (agent?.status !== 'active')
    return refused(`agent ${approval.agent} is ${agent?.status ?? 'gone'}`)
  const capability = deps.registry.find(approval.capability)
  if (!capability) return refused(`there is no ${approval.capability} any more`)
  if (capability.performer === 'service' && !inToolSet(agent.tools, capability.name))
    return refused(`${capability.name} is outside of the tool set of ${agent.name}`)
  // @SECURITY Exactly what was shown runs: the stored text is hashed again; approvals.test.ts.
  if (`sha256:${deps.digest.sha256(digestPrefix + approval.bound_json)}` !== approval.digest)
    return refused('the stored request does not match its digest')
  const bound = parseStored<{
    readonly arguments: Record<string, unknown>
    readonly definition_hash: string
    readonly resolved: unknown
    readonly node?: string
    readonly places?: Call['places']
  }>(approval.bound_json, 'approvals.bound_json')
  if (bound.definition_hash !== capability.definition_hash)
    return refused(`${capability.name} was changed meanwhile`)
  const args = freezeDeep(bound.arguments)
  const { placement } = deps.contexts
  const placed = { agent, capability, args }
  if (placement.callIsAway(placed)) return { kind: 'away' }
  /** Refusal for what is otherwise here, unless the node that was asked still runs: it sees what it saw then. */
  const differsHere = async (detail: string): Promise<Prepared> =>
    (await placement.isBoundElsewhere(bound.node, placed)) ? { kind: 'away' } : refused(detail)
  const nowMs = deps.clock.wall()
  const asked = { agent, session: null, capability, args, nowMs }
  const decision = decideCall(deps, deps.policy.current(), asked)
  if (decision.kind === 'deny') return refused('policy blocks it now')
  // @SECURITY Nobody decided on it as on a critical call; critical.test.ts.
  if (decision.critical && !approval.critical) return refused('policy calls it critical by now')
  // @SECURITY A person approved this place, wherever its path leads by now; swapped-places.test.ts.
  const places = placesOf(deps.contexts.filesOf({ agent }), capability, args)
  if (bound.places && deps.digest.canonical(places) !== deps.digest.canonical(bound.places))
    return differsHere('a path of it leads to another place than when it was asked for')
  const call: Call = {
    ...callOf(deps, approval, agent, capability, args),
    agreed: true,
    approval_id: approval.id,
    places,
    ...(decision.network ? { network: decision.network } : {}),
  }
  const lacking = await deps.contexts.assertRunnable(call).then(() => null, messageOf)
  if (lacking !== null) return differsHere(`it can't run now: ${lacking}`)
  if (capability.resolve) {
    let resolved: Readonly<Record<string, unknown>>
    try {
      const context = deps.contexts.previewOf(call, deps.signal)
      resolved = await capability.resolve(args as never, context)
    } catch (cause) {
      return differsHere(`what it touches has changed: ${messageOf(cause)}`)
    }
    if (deps.digest.canonical(resolved) !== deps.digest.canonical(bound.resolved))
      return differsHere('what it touches has changed since it was asked for')
    return { kind: 'ready', call: { ...call, resolved } }
  }
  return { kind: 'ready', call }
}

/** Message that an agent would get for a failure; raises one that is none of its calls. */
const messageOf = (cause: unknown): string => {
  if (cause instanceof GatehouseError && errorTable[cause.type].rpc === null) return cause.message
  throw cause
}

const callOf = (
  deps: ExecuteDeps,
  approval: StoredApproval,
  agent: StoredAgent,
  capability: Call['capability'],
  args: Call['args'],
): Call => ({
  op: {
    actor: { kind: 'agent', name: agent.name, credential: 0 },
    request_id: approval.request_id,
    session_id: approval.session_id,
    signal: deps.signal,
  },
  agent,
  session: null,
  capability,
  args,
  rule: approval.rule,
  reason: approval.reason,
  startedAt: performance.now(),
})

async function refuse(
  deps: ExecuteDeps,
  approval: StoredApproval,
  { error }: { readonly error: GatehouseError },
): Promise<void> {
  const failure = failureOf(error)
  const changed = await deps.auditLog.transaction(async (tx) => {
    const replaced = await tx.approvals.replace(approval, {
      ...approval,
      execution: 'refused',
      result: { success: false, error: failure },
    })
    if (!replaced.changed) return []
    tx.append(
      callDraft(
        {
          actor: { kind: 'agent', name: approval.agent, credential: 0 },
          request_id: approval.request_id,
          session_id: approval.session_id,
          signal: deps.signal,
        },
        recordedAs(deps.registry, approval.capability),
        parseStored(approval.arguments_json, 'approvals.arguments_json'),
        {
          result: 'denied',
          policy_decision,
          rule: approval.rule,
          error: failure,
          approval_id: approval.id,
        },
      ),
    )
    return [replaced.approval, await tellOriginal(tx, replaced.approval)]
  })
  for (const next of changed) if (next) announceChange(deps, next)
}

class NotClaimed extends Error {}

/**
 * The claim names the intent's entry, so that a restart can close it.
 * @SECURITY One row changes from waiting to running, durably, or nothing runs; crash.test.ts.
 */
async function claim(
  deps: ExecuteDeps,
  approval: StoredApproval,
  { op, agent, capability, args, rule }: Call,
): Promise<string | null> {
  const approval_id = approval.id
  try {
    return await deps.auditLog.transaction(async (tx) => {
      // @SECURITY An agent that another node has paused or moved by now is looked at again first; move-agent.test.ts.
      if ((await tx.agents.find(agent.name))?.generation !== agent.generation)
        throw new NotClaimed()
      const intent_id = tx.append(
        callDraft(op, capability, args, {
          result: 'pending',
          policy_decision,
          rule,
          approval_id,
          detail: { execution: 'running' },
        }),
      )
      const exec_id = `${deps.node}:${intent_id}`
      const { changed } = await tx.approvals.replace(approval, {
        ...approval,
        execution: 'running',
        exec_id,
      })
      if (!changed) throw new NotClaimed()
      return intent_id
    })
  } catch (cause) {
    if (cause instanceof NotClaimed) return null
    throw cause
  }
}

/** The effect has happened: its outcome is stored as soon as the log takes it, however long that takes. */
async function finish(
  deps: ExecuteDeps,
  call: Call,
  approval_id: string,
  intent_id: string,
  result: RunResult,
): Promise<void> {
  const { outcome } = result
  const store = async (): Promise<void> => {
    const changed = await deps.auditLog.transaction(async (tx) => {
      const current = await tx.approvals.find(approval_id)
      if (current?.execution !== 'running') return [current]
      const { approval: next } = await tx.approvals.replace(current, {
        ...current,
        execution: outcome.kind,
        result:
          outcome.kind === 'succeeded'
            ? { success: true, data: outcome.data }
            : { success: false, error: outcome.error },
        result_text: outcome.kind === 'succeeded' ? outcome.text : null,
      })
      tx.append(outcomeDraft(call, result, { policy_decision, intent_id, approval_id }))
      return [next, await tellOriginal(tx, next)]
    })
    for (const approval of changed) if (approval) announceChange(deps, approval)
  }
  await untilStored(deps, store, {
    facts: { approval_id },
    message: 'the outcome of an approved call could not be stored yet',
  })
}
