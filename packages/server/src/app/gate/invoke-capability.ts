import {
  type CapabilityError,
  errorTable,
  GatehouseError,
  type PolicyDecision,
  type PolicyTier,
} from '@gatehouse/contract'
import { type Awaitable, andThen } from '../../domain/awaitable.ts'
import { failureOf } from '../../domain/failure.ts'
import type { CompiledPolicy } from '../../domain/policy/compile.ts'
import { decideTool } from '../../domain/policy/tools.ts'
import type { Decision } from '../../domain/policy/types.ts'
import { inToolSet } from '../../domain/tool-set.ts'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { AuditDraft } from '../../ports/audit.ts'
import type { Capability, CapabilityRegistry } from '../../ports/capability.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { PolicySource } from '../../ports/policy.ts'
import { type AgentDirectory, credentialEnded } from '../agents/agent-directory.ts'
import type { SessionTable } from '../agents/session-table.ts'
import { type AgentSlots, callsAtOnceMax } from '../call/agent-slots.ts'
import type { AskPerson, HeldCall } from '../call/ask-person.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, callDraft, type RoomyCall, recordedAs } from '../call/call.ts'
import { decideCall, limitsOfCall } from '../call/decide-call.ts'
import type { InvokeInput, InvokeOutcome } from '../call/invoke.ts'
import type { CallRoom, Held, MemoryBudget } from '../call/memory-budget.ts'
import type { AgentOp } from '../call/op.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { memoryOf, resultBytesOf } from '../call/result-bytes.ts'
import { unknownCapability } from '../call/unknown-capability.ts'
import { validateArguments } from '../call/validate-arguments.ts'
import type { Bursts } from '../proxy/burst.ts'
import type { CallFacts } from '../supervision/notification-news.ts'
import { type RunDeps, type RunResult, runCapability } from './invoke-run.ts'
import { type TakenGrant, takeGrant } from './take-grant.ts'

export type InvokeDeps = Basics &
  RunDeps & {
    readonly registry: CapabilityRegistry
    readonly directory: AgentDirectory
    readonly slots: AgentSlots
    readonly memory: MemoryBudget
    readonly people: AskPerson
    /** Stores what people elsewhere are told of a call, before it begins. */
    readonly notified: (facts: CallFacts) => Promise<void>
    readonly policy: PolicySource
    readonly sessions: SessionTable
    /** Tells a burst of buffered writes from the usual ones. */
    readonly bursts: Bursts
  }

const recordableArguments = (given: unknown): Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)
    ? (given as Record<string, unknown>)
    : {}

const tierOf: Record<Decision['kind'], PolicyTier> = {
  allow: 'autonomous',
  ask: 'approval_required',
  deny: 'blocked',
}

/**
 * The gate. Whatever an agent does comes through here, and nothing leaves before the log holds it:
 * who → find → listed → arguments → policy → limits → (ask) → intent → run → outcome → answer.
 */
export async function invokeCapability(
  op: AgentOp,
  deps: InvokeDeps,
  input: InvokeInput,
): Promise<InvokeOutcome> {
  const agent = holderOf(op, deps)
  const capability = callable(deps, op, input.capability)
  const waits = capability?.waits ?? false
  const place = deps.slots.take(agent.name, waits)
  if (place === null) {
    const error = new GatehouseError('Overloaded', {
      detail: 'too many calls of this agent are in line',
    })
    await record(deps, op, input, { result: 'denied', error: failureOf(error) })
    return {
      kind: 'overloaded',
      message: error.message,
      data: {
        reason: 'overloaded',
        retry_after_seconds: 1,
        limit: callsAtOnceMax,
        window: 'at once',
      },
    }
  }
  const held = op.held ?? deps.memory.hold(agent.name, 0)
  try {
    let outcome: Outcome
    try {
      if (place) await place
      // @SECURITY An agent that was revoked or paused while its call stood in line begins nothing; mcp-socket.test.ts.
      const holder = place ? holderOf(op, deps) : agent
      const found = place ? callable(deps, op, input.capability) : capability
      outcome = found
        ? await admit(op, deps, holder, found, input, held)
        : await refuseUnknown(op, deps, input)
    } finally {
      deps.slots.give(agent.name, waits)
    }
    return outcome.kind === 'held' ? await deps.people.hold(outcome, held) : outcome
  } finally {
    if (!op.held) held.release()
  }
}

/** @SECURITY A tool that a client runs itself is asked for by its hook alone; client-tools.test.ts, "nobody else". */
const callable = ({ registry }: InvokeDeps, op: AgentOp, name: string): Capability | null => {
  const capability = registry.find(name)
  return capability?.performer === 'client' && !op.tool_use ? null : capability
}

const holderOf = ({ actor }: AgentOp, { directory }: InvokeDeps): StoredAgent => {
  const agent = directory.holder(actor.name, actor.credential)
  if (agent) return agent
  throw credentialEnded()
}

type Outcome = InvokeOutcome | HeldCall

const record = (
  deps: Pick<InvokeDeps, 'auditLog' | 'registry'>,
  op: AgentOp,
  input: InvokeInput,
  facts: { readonly result: AuditDraft['result']; readonly error: CapabilityError },
  policy_decision: PolicyDecision = 'none',
) =>
  deps.auditLog.append(
    callDraft(
      op,
      recordedAs(deps.registry, input.capability),
      recordableArguments(input.arguments),
      {
        ...facts,
        policy_decision,
      },
    ),
    { counts: true },
  )

async function refuseUnknown(
  op: AgentOp,
  deps: InvokeDeps,
  input: InvokeInput,
): Promise<InvokeOutcome> {
  const outcome = unknownCapability(deps.registry, input.capability)
  await record(deps, op, input, { result: 'error', error: outcome.error })
  return outcome
}

/** Verdict on a call with these arguments, or how it is refused and recorded. */
type Judged =
  | { readonly kind: 'refused'; readonly refuse: () => Promise<InvokeOutcome> }
  | {
      readonly kind: 'passed'
      readonly agent: StoredAgent
      readonly session: StoredSession | null
      readonly args: Call['args']
      readonly policy: CompiledPolicy
      readonly decision: Exclude<Decision, { readonly kind: 'deny' }>
    }

const refused = (refuse: () => Promise<InvokeOutcome>): Judged => ({ kind: 'refused', refuse })

function judge(
  op: AgentOp,
  deps: InvokeDeps,
  agent: StoredAgent,
  capability: Capability,
  input: InvokeInput,
): Judged {
  if (agent.status === 'paused') return refused(() => refusePaused(op, deps, agent, input))
  if (capability.performer === 'service' && !inToolSet(agent.tools, capability.name))
    return refused(() => refuseOutside(op, deps, agent, input))
  const session = op.session_id === null ? null : deps.sessions.use(op.session_id, agent.name)
  const policy = deps.policy.current()
  const nowMs = deps.clock.wall()
  const validated = validateArguments(capability, input.arguments, input.unreadable)
  if (validated.kind === 'invalid') {
    // A capability that no call of this agent could pass has no arguments to be wrong about.
    const question = buildQuestion(agent, session, capability.name, {}, nowMs)
    if (policy.listed(question) === 'blocked') {
      const { rule, reason } = decideTool(policy, question)
      const args = recordableArguments(input.arguments)
      return refused(() => deny(deps, { op, agent, capability, args, rule, reason }))
    }
    const { error } = validated
    return refused(async () => {
      await record(deps, op, input, { result: 'error', error })
      return { kind: 'failed', error }
    })
  }
  const { args } = validated
  if (deps.contexts.placement.callIsAway({ agent, capability, args }))
    return refused(() => refuseAway(op, deps, agent, input))
  const decision = decideCall(deps, policy, { agent, session, capability, args, nowMs })
  if (decision.kind !== 'deny') return { kind: 'passed', agent, session, args, policy, decision }
  const { rule, reason } = decision
  return refused(() => deny(deps, { op, agent, capability, args, rule, reason }))
}

async function refusePaused(
  op: AgentOp,
  deps: InvokeDeps,
  agent: StoredAgent,
  input: InvokeInput,
): Promise<InvokeOutcome> {
  const error = new GatehouseError('AgentPaused', { agent: agent.name })
  await record(deps, op, input, { result: 'denied', error: failureOf(error) }, 'blocked')
  return {
    kind: 'denied',
    reason: 'agent_paused',
    message: error.message,
    data: { reason: 'agent_paused' },
  }
}

/** Policy is not asked: where a path leads is seen by the node with the folder alone. */
async function refuseAway(
  op: AgentOp,
  deps: InvokeDeps,
  agent: StoredAgent,
  input: InvokeInput,
): Promise<InvokeOutcome> {
  const error = failureOf(await deps.contexts.placement.refusal(agent))
  await record(deps, op, input, { result: 'error', error })
  return { kind: 'failed', error }
}

/** @SECURITY A capability outside the tool set of an agent does not run, whatever policy says; agent-tools.test.ts. */
async function refuseOutside(
  op: AgentOp,
  deps: InvokeDeps,
  { name: agent }: StoredAgent,
  input: InvokeInput,
): Promise<InvokeOutcome> {
  const error = new GatehouseError('OutsideToolSet', { agent, capability: input.capability })
  await record(deps, op, input, { result: 'denied', error: failureOf(error) }, 'blocked')
  const reason = 'tool_set'
  return { kind: 'denied', reason, message: error.message, data: { reason } }
}

/** Everything before the act: what is refused here is recorded by its reason, and nothing has happened. */
function admit(
  op: AgentOp,
  deps: InvokeDeps,
  agent: StoredAgent,
  capability: Capability,
  input: InvokeInput,
  held: Held,
): Promise<Outcome> {
  const startedAt = performance.now()
  const judged = judge(op, deps, agent, capability, input)
  if (judged.kind === 'refused') return judged.refuse()
  const { args, decision } = judged
  const free = roomFor(deps, op, capability, args, held)
  const asked = { op, capability, input, startedAt }
  if (!(free instanceof Promise)) return proceed(deps, asked, judged, free)
  const waiting = { ...asked, args, rule: decision.rule }
  return proceedLater(deps, waiting, tierOf[decision.kind], free)
}

type Asked = Pick<Call, 'op' | 'capability' | 'startedAt'> & { readonly input: InvokeInput }

async function proceedLater(
  deps: InvokeDeps,
  asked: Asked & Pick<Call, 'args' | 'rule'>,
  tier: PolicyTier,
  free: Promise<CallRoom>,
): Promise<Outcome> {
  const waited = await free.catch((cause: unknown) => ({ cause }))
  if ('cause' in waited) return refuseRoom(deps, asked, tier, waited.cause)
  using room = waited
  // The verdict from before the wait may be outdated.
  const { op, capability, input } = asked
  const judged = judge(op, deps, holderOf(op, deps), capability, input)
  if (judged.kind === 'refused') return await judged.refuse()
  return await proceed(deps, asked, judged, room)
}

type Passed = Extract<Judged, { readonly kind: 'passed' }>

/** In one turn where nothing waits: all but the wait for the log, which is the last step then. */
async function proceed(
  deps: InvokeDeps,
  asked: Asked,
  passed: Passed,
  room: CallRoom,
): Promise<Outcome> {
  // No `using`, which costs every call a hundredth of its time.
  try {
    return await counted(deps, asked, passed, room)
  } finally {
    room[Symbol.dispose]()
  }
}

function counted(
  deps: InvokeDeps,
  { op, capability, input, startedAt }: Asked,
  { agent, session, args, policy, decision }: Passed,
  room: CallRoom,
): Awaitable<Outcome> {
  const { rule, reason } = decision
  const sent = input.arguments
  const plain = { op, agent, session, capability, args, sent, rule, reason, startedAt, room }
  const { network, critical } = decision
  const call: RoomyCall = {
    ...plain,
    ...(network ? { network } : {}),
    ...(critical ? { critical } : {}),
  }
  const keys = limitsOfCall(policy, agent, call)
  return andThen(deps.storage.limits.take(keys, deps.clock.now()), (verdict) => {
    if (verdict.kind === 'allowed') return withinLimits(deps, call, decision, verdict.stamps)
    const limit = keys.find(({ key }) => key === verdict.key.key) ?? {
      match: capability.name,
      window: '',
      limit: 0,
    }
    return refuseLimited(deps, call, tierOf[decision.kind], limit, verdict.retry_after_ms)
  })
}

function withinLimits(
  deps: InvokeDeps,
  call: RoomyCall,
  { kind, notify }: Passed['decision'],
  stamps: readonly LimitStamp[],
): Awaitable<Outcome> {
  const told = notify ? announce(deps, call) : undefined
  return andThen(told, () => {
    if (kind === 'ask') return ask(deps, call, stamps)
    return call.capability.effect === 'buffered'
      ? actUnlessBurst(deps, call, stamps)
      : act(deps, call, stamps)
  })
}

/** @SECURITY More writes than are usual are for a person to decide; test/proxy/writes.test.ts. */
async function actUnlessBurst(
  deps: InvokeDeps,
  call: RoomyCall,
  stamps: readonly LimitStamp[],
): Promise<Outcome> {
  const burst = await deps.bursts.take(call.agent.name)
  return burst.kind === 'burst'
    ? await ask(deps, { ...call, reason: burst.reason }, stamps)
    : await act(deps, call, [...stamps, ...burst.stamps])
}

/** Room for the largest result that the call can have; at once, but where other results are in the way. */
const roomFor = (
  { clock }: InvokeDeps,
  op: AgentOp,
  capability: Capability,
  args: Call['args'],
  held: Held,
): CallRoom | Promise<CallRoom> =>
  held.room(resultBytesOf(capability, args), () => ({ signal: op.signal, clock }))

/** Refusal before the run: there was no room for the result, or the caller went away meanwhile. */
async function refuseRoom(
  deps: InvokeDeps,
  { op, capability, args, rule }: Pick<Call, 'op' | 'capability' | 'args' | 'rule'>,
  policy_decision: PolicyTier,
  cause: unknown,
): Promise<InvokeOutcome> {
  const raised =
    cause instanceof GatehouseError ? cause : new GatehouseError('Cancelled', {}, { cause })
  const error = failureOf(raised)
  const result = raised.type === 'Overloaded' ? 'denied' : 'error'
  const facts = { result, policy_decision, rule, error } as const
  await deps.auditLog.append(callDraft(op, capability, args, facts), { counts: true })
  if (result === 'error') return { kind: 'failed', error }
  return {
    kind: 'overloaded',
    message: raised.message,
    data: {
      reason: 'overloaded',
      retry_after_seconds: 1,
      limit: deps.memory.perAgentMax,
      window: 'bytes at once',
    },
  }
}

async function deny(
  deps: InvokeDeps,
  call: Pick<Call, 'op' | 'agent' | 'capability' | 'args' | 'rule' | 'reason'>,
): Promise<InvokeOutcome> {
  const { op, agent, capability, args, rule } = call
  const detail = call.reason ?? (rule ? `${rule.file}:${rule.line}` : 'no rule allows it')
  const error = new GatehouseError('PolicyDenied', {
    agent: agent.name,
    capability: capability.name,
    detail,
  })
  await deps.auditLog.append(
    callDraft(op, capability, args, {
      result: 'denied',
      policy_decision: 'blocked',
      rule,
      error: failureOf(error),
    }),
    { counts: true },
  )
  return {
    kind: 'denied',
    reason: 'policy',
    message: error.message,
    data: { reason: 'blocked', rule },
  }
}

async function refuseLimited(
  deps: InvokeDeps,
  call: Call,
  policy_decision: PolicyTier,
  limit: { readonly match: string; readonly window: string; readonly limit: number },
  retryAfterMs: number,
): Promise<InvokeOutcome> {
  const error = new GatehouseError('RateLimited', {
    limit: limit.limit,
    window: limit.window,
    match: limit.match,
  })
  const retry_after_seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  await deps.auditLog.append(
    callDraft(call.op, call.capability, call.args, {
      result: 'denied',
      policy_decision,
      rule: call.rule,
      error: failureOf(error),
      detail: { retry_after_seconds },
    }),
    { counts: true },
  )
  const { message } = error
  return {
    kind: 'limited',
    message,
    data: { retry_after_seconds, limit: limit.limit, window: limit.window },
  }
}

async function announce(
  deps: InvokeDeps,
  { agent, capability, args, rule, op }: Call,
): Promise<void> {
  const facts = { agent: agent.name, capability: capability.name, request_id: op.request_id }
  const data = { ...facts, rule }
  deps.events.publish({ type: 'capability.notified', agent: '', data })
  await deps.notified({ ...facts, arguments: args })
}

/** Runs what policy allows. What has an effect is on record before it begins, and again when it ended. */
function act(
  deps: InvokeDeps,
  call: RoomyCall,
  stamps: readonly LimitStamp[],
): Awaitable<InvokeOutcome> {
  const { op, capability, args, rule } = call
  const policy_decision = 'autonomous'
  const extras = { stamps, counts: true }
  if (capability.effect === 'none')
    return andThen(runCapability(deps, call), (result) =>
      deps.auditLog
        .append(outcomeDraft(call, result, { policy_decision }), extras)
        .then(() => answer(result)),
    )
  const intent = callDraft(op, capability, args, { result: 'pending', policy_decision, rule })
  return deps.auditLog
    .append(intent, extras)
    .then(({ id }) => runIntended(deps, call, { policy_decision, intent_id: id }))
}

/** A standing grant lets it run like a call that is allowed; without one a person is asked. */
async function ask(
  deps: InvokeDeps,
  call: RoomyCall,
  stamps: readonly LimitStamp[],
): Promise<Outcome> {
  // Preview and run of an approved call may reach the places that policy asks a person about.
  const agreed: RoomyCall = { ...call, agreed: true }
  let taken: TakenGrant | null
  try {
    taken = await takeGrant(deps, agreed, stamps)
    if (!taken) return charged(call, await deps.people.request(agreed, stamps))
  } catch (cause) {
    return unaskable(deps, call, stamps, cause)
  }
  const { grant_id, intent_id, resolved, places } = taken
  const policy_decision = 'approval_required'
  const granted = resolved ? { ...agreed, places, resolved } : { ...agreed, places }
  return runIntended(deps, granted, { policy_decision, intent_id, detail: { grant_id } })
}

/** The stored result of an approved call takes what one that was made now would. */
const charged = <T extends Outcome>({ room }: RoomyCall, outcome: T): T => {
  room.made(outcome.kind === 'succeeded' ? memoryOf(outcome.data) : 0)
  return outcome
}

/** A call about something that is not there or not allowed takes no person's time: the agent hears it now. */
async function unaskable(
  deps: InvokeDeps,
  call: Call,
  stamps: readonly LimitStamp[],
  cause: unknown,
): Promise<InvokeOutcome> {
  if (!(cause instanceof GatehouseError) || errorTable[cause.type].rpc !== null) throw cause
  const error = failureOf(cause)
  const draft = callDraft(call.op, call.capability, call.args, {
    result: 'error',
    policy_decision: 'approval_required',
    rule: call.rule,
    error,
  })
  await deps.auditLog.append(draft, { stamps, counts: true })
  return { kind: 'failed', error }
}

async function runIntended(deps: InvokeDeps, call: RoomyCall, facts: OutcomeFacts) {
  // @SECURITY Rotation, revocation and pause while the intent is written still stop the call;
  // invoke-capability.test.ts.
  const stopped = stoppedMeanwhile(deps, call)
  const result = stopped ?? (await runCapability(deps, call))
  await deps.auditLog.append(outcomeDraft(call, result, facts))
  return answer(result)
}

function stoppedMeanwhile(deps: InvokeDeps, { op }: Call): RunResult | null {
  const holder = deps.directory.holder(op.actor.name, op.actor.credential)
  if (holder?.status === 'active') return null
  const error = holder
    ? new GatehouseError('AgentPaused', { agent: op.actor.name })
    : credentialEnded()
  return { outcome: { kind: 'failed', error: failureOf(error) }, noted: null, fault: error }
}

type OutcomeFacts = {
  readonly policy_decision: PolicyTier
  readonly intent_id?: string
  readonly approval_id?: string
  readonly detail?: AuditDraft['detail']
}

/** The closing entry of a call, whatever became of it. */
export const outcomeDraft = (
  { op, capability, args, rule, startedAt }: Call,
  { outcome, noted }: RunResult,
  facts: OutcomeFacts,
): AuditDraft =>
  // Field by field: a spread costs as much as hashing the entry.
  callDraft(op, capability, args, {
    policy_decision: facts.policy_decision,
    intent_id: facts.intent_id ?? null,
    approval_id: facts.approval_id ?? null,
    result: outcome.kind === 'succeeded' ? 'success' : 'error',
    error: outcome.kind === 'failed' ? outcome.error : null,
    detail: noted ? { ...facts.detail, ...noted } : (facts.detail ?? null),
    rule,
    startedAt,
  })

const answer = ({ outcome, fault }: RunResult): InvokeOutcome => {
  if (fault) throw fault
  return outcome
}
