import { decideTool, traceTool } from '../../domain/policy/tools.ts'
import type { CompiledPolicy, Decision, PolicyQuestion } from '../../domain/policy/types.ts'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { Capability, CapabilityRegistry, StandsFor } from '../../ports/capability.ts'
import type { Files } from '../../ports/files.ts'
import { type CountedLimit, countedLimits, type LimitedAgent, limitsFor } from './agent-limits.ts'
import type { ContextFactory } from './capability-context.ts'
import { buildQuestion } from './policy-question.ts'

type Deps = {
  readonly registry: Pick<CapabilityRegistry, 'find'>
  readonly contexts: Pick<ContextFactory, 'filesOf'>
}

/** A call whose arguments fit, as policy is asked about it. */
type Asked = {
  readonly agent: StoredAgent
  readonly session: StoredSession | null
  readonly capability: Capability
  readonly args: Readonly<Record<string, unknown>>
  readonly nowMs: number
}

type Traced = ReturnType<CompiledPolicy['trace']>

const strictness: Readonly<Record<Decision['kind'], number>> = { allow: 0, ask: 1, deny: 2 }

const held = (reason: string): Decision => ({ kind: 'ask', rule: null, reason, notify: false })

const stricter = (a: Decision, b: Decision): Decision => {
  const strictest = strictness[b.kind] > strictness[a.kind] ? b : a
  return {
    ...strictest,
    notify: a.notify || b.notify,
    ...(a.critical || b.critical ? { critical: true as const } : {}),
  }
}

/** Places that a call names and that the agent's folders do not hold, or do not let it change. */
const outside = (
  files: Files,
  { paths, group, effect }: Capability,
  args: Readonly<Record<string, unknown>>,
): string | null => {
  const intent = group === 'filesystem' && effect !== 'none' ? 'write' : 'read'
  for (const name of paths)
    for (const path of [args[name]].flat())
      if (typeof path === 'string' && !files.reaches(path, intent))
        return intent === 'write'
          ? `${path} is not in a folder that the agent may change`
          : `${path} is not in the agent's folders`
  return null
}

const standsFor = ({ capability, args }: Pick<Asked, 'capability' | 'args'>): StandsFor | null =>
  capability.stands_for ? capability.stands_for(args as never) : null

/** Decision of policy on one call, and the question behind it. */
type Verdict = { readonly decision: Decision; readonly question: PolicyQuestion | null }

const decideOther = (
  deps: Deps,
  policy: CompiledPolicy,
  asked: Asked,
  call: StandsFor['calls'][number],
): Verdict => {
  const { agent, session, nowMs } = asked
  const capability = deps.registry.find(call.capability)
  const parsed = capability?.parse(call.arguments)
  if (!capability || parsed?.kind !== 'valid') {
    const fault = capability ? 'it is no call that it could make' : 'nothing here is called that'
    return { decision: held(`${call.capability}: ${fault}`), question: null }
  }
  const { args } = parsed
  const places = { capability, contexts: deps.contexts }
  const question = buildQuestion(agent, session, capability.name, args, nowMs, places)
  const decision = policy.decide(question)
  // @SECURITY No sandbox confines what a client does by itself; client-tools.test.ts, "outside".
  const fault = outside(deps.contexts.filesOf({ agent }), capability, args)
  return { decision: fault === null ? decision : stricter(decision, held(fault)), question }
}

const ownQuestion = (deps: Deps, asked: Asked): PolicyQuestion => {
  const { agent, session, capability, args, nowMs } = asked
  const places = { capability, contexts: deps.contexts }
  return buildQuestion(agent, session, capability.name, args, nowMs, places)
}

const decideOthers = (
  deps: Deps,
  policy: CompiledPolicy,
  asked: Asked,
  { calls, held: reason }: StandsFor,
): readonly Verdict[] => {
  const verdicts = calls.map((call) => decideOther(deps, policy, asked, call))
  return reason === null ? verdicts : [...verdicts, { decision: held(reason), question: null }]
}

/** Verdict of policy on a call, and on all that it stands for: the strictest holds. */
export function decideCall(deps: Deps, policy: CompiledPolicy, asked: Asked): Decision {
  const own = decideTool(policy, ownQuestion(deps, asked))
  const others = standsFor(asked)
  if (!others) return own
  const verdicts = decideOthers(deps, policy, asked, others)
  return verdicts.map(({ decision }) => decision).reduce(stricter, own)
}

/** The same with the rules that were looked at, of the call whose verdict holds. */
export function traceCall(deps: Deps, policy: CompiledPolicy, asked: Asked): Traced {
  const own = traceTool(policy, ownQuestion(deps, asked))
  const others = standsFor(asked)
  if (!others) return own
  let traced: Traced = own
  for (const { decision, question } of decideOthers(deps, policy, asked, others)) {
    const verdict = stricter(traced.decision, decision)
    const decides = strictness[decision.kind] > strictness[traced.decision.kind]
    const steps = decides ? (question ? policy.trace(question).steps : []) : traced.steps
    traced = { decision: verdict, steps }
  }
  return traced
}

/** The limits that a call counts under, its own and those of what it stands for; each once. */
export function limitsOfCall(
  policy: CompiledPolicy,
  agent: LimitedAgent,
  call: Pick<Asked, 'capability' | 'args'>,
): readonly CountedLimit[] {
  const countedFor = (name: string) => countedLimits(agent.name, limitsFor(policy, agent, name))
  const own = countedFor(call.capability.name)
  const others = standsFor(call)
  if (!others) return own
  const all = [...own, ...others.calls.flatMap(({ capability }) => countedFor(capability))]
  return [...new Map(all.map((limit) => [limit.key, limit])).values()]
}
