import type { CapabilityListing, PolicyProblem, ReadyPolicy } from '@gatehouse/contract'
import type { MirroredArgument } from '@gatehouse/contract/mirrored-arguments'
import type { Decision, TraceStep } from '../../domain/policy/types.ts'
import type {
  PolicyCheck,
  PolicyFiles,
  PolicyFileText,
  SavedPolicyFile,
  SavePolicyFile,
} from '../../ports/policy.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Invoke, ListedCapability } from '../call/invoke.ts'
import { namedCall } from '../call/named-call.ts'
import type { AgentOp, Op } from '../call/op.ts'
import { type InvokeDeps, invokeCapability } from './invoke-capability.ts'
import {
  type Described,
  describeCapability,
  type ListDeps,
  listCapabilities,
  listing,
  listToolsOf,
} from './list-capabilities.ts'
import { type PolicyChanges, savePolicy, testPolicy } from './policy-access.ts'
import { type Replay, type ReplayDeps, type ReplayInput, Replays } from './replay-policy.ts'
import { type SimulateInput, type Simulation, simulatePolicy } from './simulate-policy.ts'
import { TickBatch } from './tick-batch.ts'
import { traceCalls } from './trace-calls.ts'
import { type ToolAnswer, type ToolQuestion, useTool } from './use-tool.ts'

export type GateDeps = InvokeDeps &
  ListDeps & {
    readonly policy: PolicyFiles
    readonly sharedPolicy: PolicyChanges
    readonly audit: ReplayDeps['audit']
    readonly tracing?: Tracing | undefined
  }

export interface GateUseCases {
  readonly invoke: Invoke
  /** The same for what a client would do by itself: whoever asks holds a token of the role `hook`. */
  useTool(op: Op, input: ToolQuestion): Promise<ToolAnswer>
  listCapabilities(op: AgentOp, input: { category?: string }): Promise<readonly ListedCapability[]>
  /** The same for people, of any agent. Raises `AgentNotFound`. */
  listToolsOf(op: Op, input: { name: string }): Promise<readonly ListedCapability[]>
  describeCapability(op: AgentOp, input: { name: string }): Promise<Described>
  /** Of all capabilities there are, whoever may use them; the same array until something changes. */
  capabilityNames(): readonly string[]
  /** Arguments of a capability that clients of MCP over HTTP say in headers, too; none of one that there is not. */
  mirroredArguments(name: string): readonly MirroredArgument[]
  listing(entry: ListedCapability): CapabilityListing

  showPolicy(op: Op): Promise<{
    readonly version: string
    readonly files: readonly PolicyFileText[]
    readonly problems: readonly PolicyProblem[]
    readonly rules: number
    readonly testsPassed: number
  }>
  listReadyPolicies(op: Op): Promise<readonly ReadyPolicy[]>
  testPolicy(
    op: Op,
    input: { agent: string; capability: string; arguments: Record<string, unknown>; at?: string },
  ): Promise<{ readonly decision: Decision; readonly steps: readonly TraceStep[] }>
  /** Verdicts on calls that nobody makes, by the active policy or with a draft in its place. */
  simulatePolicy(op: Op, input: SimulateInput): Promise<Simulation>
  /** Calls in the log that a draft would decide otherwise. */
  replayPolicy(op: Op, input: ReplayInput): Promise<Replay>
  validatePolicy(
    op: Op,
    input: { text: string; file: string; agent?: string },
  ): Promise<PolicyCheck>
  savePolicy(op: Op, input: Omit<SavePolicyFile, 'record'>): Promise<SavedPolicyFile>
}

/** The one way to a capability, and the policy that it asks. */
export function bindGate(deps: GateDeps): { readonly useCases: GateUseCases } {
  const { policy, registry, tracing } = deps
  const tick = new TickBatch()
  const replays = new Replays()
  const untraced: Invoke = async (op, input) => {
    await tick.over()
    return await invokeCapability(op, deps, input)
  }
  const invoke = tracing ? traceCalls(tracing, untraced) : untraced
  return {
    useCases: {
      invoke: (op, input) => invoke(op, namedCall(input)),
      useTool: (op, input) => useTool(op, { ...deps, invoke }, input),
      listCapabilities: (op, input) => listCapabilities(op, deps, input),
      listToolsOf: (_op, input) => listToolsOf(deps, input),
      describeCapability: (op, input) => describeCapability(op, deps, input),
      capabilityNames: () => registry.names(),
      mirroredArguments: (name) => registry.find(name)?.mirrored ?? [],
      listing,
      showPolicy: async () => ({
        version: policy.current().version,
        files: policy.files(),
        problems: policy.problems(),
        ...policy.countActive(),
      }),
      listReadyPolicies: () => policy.ready(),
      testPolicy: (_op, input) => testPolicy(deps, input),
      simulatePolicy: (_op, input) => simulatePolicy(deps, input),
      replayPolicy: async (op, input) => replays.start(op, deps, input),
      validatePolicy: async (_op, input) => policy.validate(input),
      savePolicy: (op, input) => savePolicy(op, deps, input),
    },
  }
}
