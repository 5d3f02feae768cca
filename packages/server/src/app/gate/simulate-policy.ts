import { GatehouseError, type PolicyProblem, type PolicyTier } from '@gatehouse/contract'
import { covers } from '../../domain/policy/match.ts'
import { tierOf } from '../../domain/policy/tiers.ts'
import { decideTool, traceTool } from '../../domain/policy/tools.ts'
import type { CompiledPolicy, Decision, TraceStep } from '../../domain/policy/types.ts'
import { inToolSet } from '../../domain/tool-set.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { Capability, CapabilityRegistry } from '../../ports/capability.ts'
import type { PolicyDraft, PolicyFiles } from '../../ports/policy.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { Basics } from '../call/basics.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { decideCall, traceCall } from '../call/decide-call.ts'
import { buildQuestion } from '../call/policy-question.ts'
import { wallTimeOf } from './wall-time.ts'

export type SimulateDeps = Pick<Basics, 'clock' | 'storage'> & {
  readonly policy: PolicyFiles
  readonly directory: Pick<AgentDirectory, 'find'>
  readonly registry: CapabilityRegistry
  readonly contexts: ContextFactory
}

export type SimulateInput = {
  /** All that are not revoked, unless said. */
  readonly agents?: readonly string[]
  /** Capabilities, `group.*` or `*`; all unless said. */
  readonly capabilities?: readonly string[]
  /** Of the calls; without them a capability has the tier of its listing. */
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly at?: string
  /** A file in place of the one that is active. */
  readonly draft?: PolicyDraft
  readonly trace: boolean
}

/** Verdict on one call of one agent. */
export type Simulated = {
  readonly agent: string
  readonly capability: string
  readonly tier: PolicyTier
  /** By the active policy, where a draft was given. */
  readonly active_tier: PolicyTier | null
  /** Why the call is refused whatever policy says; null where nothing but policy stands in its way. */
  readonly barred: 'tool_set' | 'paused' | 'revoked' | null
  /** False where the arguments are none of this capability: no such call could be made. */
  readonly arguments_fit: boolean
  readonly decision: Decision | null
  readonly steps?: readonly TraceStep[]
}

export type Simulation =
  | { readonly kind: 'refused'; readonly problems: readonly PolicyProblem[] }
  | {
      readonly kind: 'simulated'
      readonly version: string
      readonly problems: readonly PolicyProblem[]
      readonly results: readonly Simulated[]
    }

const resultsMax = 10_000
const tracedMax = 500

async function agentsOf(
  { storage, directory }: SimulateDeps,
  names: SimulateInput['agents'],
): Promise<readonly StoredAgent[]> {
  if (!names) return (await storage.agents.list()).filter(({ status }) => status !== 'revoked')
  const agents: StoredAgent[] = []
  for (const name of new Set(names)) {
    const agent = await directory.find(name)
    if (!agent) throw new GatehouseError('AgentNotFound', { agent: name })
    agents.push(agent)
  }
  return agents
}

/** Capabilities that the patterns name, each once. A name that nothing has is an error, not an empty answer. */
export function capabilitiesOf(
  registry: CapabilityRegistry,
  patterns: readonly string[] | undefined,
): readonly Capability[] {
  if (!patterns) return registry.list()
  const named = patterns.map((pattern) => {
    const found = registry.list().filter(({ name }) => pattern === '*' || covers(pattern, name))
    if (found.length === 0) throw new GatehouseError('UnknownCapability', { capability: pattern })
    return found
  })
  return [...new Set(named.flat())]
}

const barOf = (agent: StoredAgent, { name, performer }: Capability): Simulated['barred'] => {
  if (agent.status !== 'active') return agent.status
  return performer === 'service' && !inToolSet(agent.tools, name) ? 'tool_set' : null
}

type Asked = {
  readonly agent: StoredAgent
  readonly capability: Capability
  readonly nowMs: number
  readonly given: SimulateInput['arguments']
}

type Call = Parameters<typeof decideCall>[2]

const ask = (
  deps: SimulateDeps,
  policy: CompiledPolicy,
  call: Call,
  { fits, traced }: { readonly fits: boolean; readonly traced: boolean },
): { readonly decision: Decision; readonly steps?: readonly TraceStep[] } => {
  if (fits)
    return traced ? traceCall(deps, policy, call) : { decision: decideCall(deps, policy, call) }
  // Arguments that do not fit are still a question: what a rule says of them is worth seeing.
  const { agent, session, capability, args, nowMs } = call
  const question = buildQuestion(agent, session, capability.name, args, nowMs)
  return traced ? traceTool(policy, question) : { decision: decideTool(policy, question) }
}

/** Without arguments the tier of the listing is told, and no rule: none of them decides by itself. */
const verdictOf = (
  deps: SimulateDeps,
  policy: CompiledPolicy,
  { agent, capability, nowMs, given }: Asked,
  traced: boolean,
) => {
  if (!given) {
    const question = buildQuestion(agent, null, capability.name, {}, nowMs)
    return { tier: policy.listed(question), decision: null, fits: true }
  }
  const parsed = capability.parse(given)
  const fits = parsed.kind === 'valid'
  const call = { agent, session: null, capability, args: fits ? parsed.args : given, nowMs }
  const asked = ask(deps, policy, call, { fits, traced })
  return { tier: tierOf(asked.decision), fits, ...asked }
}

/** Decisions on calls that nobody makes: agents by capabilities. Nothing is counted or recorded. */
export async function simulatePolicy(
  deps: SimulateDeps,
  input: SimulateInput,
): Promise<Simulation> {
  const nowMs = wallTimeOf(deps.clock, input.at)
  const agents = await agentsOf(deps, input.agents)
  const capabilities = capabilitiesOf(deps.registry, input.capabilities)
  const max = input.trace ? tracedMax : resultsMax
  if (agents.length * capabilities.length > max)
    throw new GatehouseError('InvalidParams', {
      detail: `${agents.length} agents and ${capabilities.length} capabilities are more than ${max} calls${input.trace ? ' with a trace' : ''}; name fewer in agents or capabilities`,
    })
  const active = deps.policy.current()
  const drafted = input.draft ? deps.policy.compile(input.draft) : null
  if (drafted && !drafted.policy) return { kind: 'refused', problems: drafted.problems }
  const policy = drafted?.policy ?? active
  const results: Simulated[] = []
  for (const agent of agents) {
    // Paths are looked up on the disk: calls of agents go on between one agent and the next.
    await new Promise((resolve) => setImmediate(resolve))
    for (const capability of capabilities) {
      const asked = { agent, capability, nowMs, given: input.arguments }
      const { tier, fits, ...verdict } = verdictOf(deps, policy, asked, input.trace)
      results.push({
        agent: agent.name,
        capability: capability.name,
        tier,
        active_tier: drafted ? verdictOf(deps, active, asked, false).tier : null,
        barred: barOf(agent, capability),
        arguments_fit: fits,
        ...verdict,
      })
    }
  }
  return { kind: 'simulated', version: policy.version, problems: drafted?.problems ?? [], results }
}
