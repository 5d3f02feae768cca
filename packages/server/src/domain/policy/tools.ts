import { inToolSet } from '../tool-set.ts'
import { groupOf } from './match.ts'
import type {
  CompiledPolicy,
  Decision,
  Layer,
  LayerTools,
  PolicyQuestion,
  TraceStep,
} from './types.ts'

/** Tools of the agent's own client are none of the gate's: nothing of them is offered here. */
const clientGroup = 'client'

/** The list of tools that leaves a capability out, of the first of these layers that has one; null where none does. */
export const leavingOut = (layers: readonly Layer[], capability: string): LayerTools | null => {
  if (groupOf(capability) === clientGroup) return null
  for (const { tools } of layers) if (tools && !inToolSet(tools.patterns, capability)) return tools
  return null
}

const refusal = ({ ref }: LayerTools): Decision => ({
  kind: 'deny',
  rule: ref,
  reason: `The tools of ${ref.file}:${ref.line} leave it out`,
  notify: false,
})

/**
 * The decision on a tool that an agent calls itself: the lists of tools, and then the rules.
 * @SECURITY What a list leaves out runs for nobody whom it is for, whatever rules say; gate/policy-tools.test.ts.
 */
export const decideTool = (policy: CompiledPolicy, question: PolicyQuestion): Decision => {
  const tools = policy.leftOutBy(question.agent.name, question.capability)
  return tools === null ? policy.decide(question) : refusal(tools)
}

/** The same decision with what was looked at. */
export const traceTool = (
  policy: CompiledPolicy,
  question: PolicyQuestion,
): { readonly decision: Decision; readonly steps: readonly TraceStep[] } => {
  const tools = policy.leftOutBy(question.agent.name, question.capability)
  if (tools === null) return policy.trace(question)
  const detail = tools.patterns.join(', ')
  return {
    decision: refusal(tools),
    steps: [{ rule: tools.ref, outcome: 'decided', detail: `leaves it out: ${detail}` }],
  }
}
