import { GatehouseError } from '@gatehouse/contract'
import type { Decision, TraceStep } from '../../domain/policy/types.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { PolicyFiles, SavedPolicyFile, SavePolicyFile } from '../../ports/policy.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { traceCall } from '../call/decide-call.ts'
import { actorText, type Op } from '../call/op.ts'
import { validateArguments } from '../call/validate-arguments.ts'
import { wallTimeOf } from './wall-time.ts'

type TestInput = {
  readonly agent: string
  readonly capability: string
  readonly arguments: Record<string, unknown>
  readonly at?: string
}

/** Trial of a call against policy, with every rule that was looked at. Nothing is counted or recorded. */
export async function testPolicy(
  deps: Pick<Basics, 'clock'> & {
    readonly policy: PolicyFiles
    readonly directory: AgentDirectory
    readonly registry: CapabilityRegistry
    readonly contexts: ContextFactory
  },
  input: TestInput,
): Promise<{ readonly decision: Decision; readonly steps: readonly TraceStep[] }> {
  const agent = await deps.directory.find(input.agent)
  if (!agent) throw new GatehouseError('AgentNotFound', { agent: input.agent })
  const capability = deps.registry.find(input.capability)
  if (!capability) throw new GatehouseError('UnknownCapability', { capability: input.capability })
  const validated = validateArguments(capability, input.arguments)
  // Arguments that do not fit are still a question: what a rule says of them is worth seeing.
  const args = validated.kind === 'valid' ? validated.args : input.arguments
  const nowMs = wallTimeOf(deps.clock, input.at)
  return traceCall(deps, deps.policy.current(), { agent, session: null, capability, args, nowMs })
}

/** Where changes of policy files meet those of other nodes. */
export type PolicyChanges = {
  /** Must resolve when all nodes are told. Raises `Conflict` where another node changed the same file meanwhile. */
  change<T>(author: string, work: () => Promise<T>): Promise<T>
}

/** Stores a policy file that has no error, and says so in the log first. */
export async function savePolicy(
  op: Op,
  deps: Pick<Basics, 'auditLog' | 'digest'> & {
    readonly policy: PolicyFiles
    readonly sharedPolicy: PolicyChanges
  },
  input: Omit<SavePolicyFile, 'record'>,
): Promise<SavedPolicyFile> {
  const file = input.agent === undefined ? 'organisation.yaml' : `agents/${input.agent}.yaml`
  const facts = {
    agent: input.agent ?? '',
    arguments: { file, sha256: deps.digest.sha256(input.text) },
  }
  const record = () => deps.auditLog.append(actDraft(op, 'policy.saved', facts))
  return deps.sharedPolicy.change(actorText(op.actor), () => deps.policy.save({ ...input, record }))
}
