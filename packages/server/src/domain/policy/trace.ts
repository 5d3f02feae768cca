import type { Chain } from './chain.ts'
import { matchesOnError } from './decide.ts'
import { verdictOf } from './tiers.ts'
import type { Decision, LayerRule, PolicyQuestion, TraceStep } from './types.ts'

type Look = { readonly matched: boolean; readonly step: TraceStep }

const look = (rule: LayerRule, question: PolicyQuestion): Look => {
  const matched: Look = { matched: true, step: { rule: rule.ref, outcome: 'matched' } }
  if (rule.when === null) return matched
  const detail = rule.when.source
  try {
    return rule.when.evaluate(question)
      ? { matched: true, step: { rule: rule.ref, outcome: 'matched', detail } }
      : { matched: false, step: { rule: rule.ref, outcome: 'condition_false', detail } }
  } catch {
    const counted = matchesOnError(rule)
    const why = rule.when.explain?.(question) ?? 'it cannot be evaluated'
    const taken = counted ? 'taken to hold' : 'taken not to hold'
    return {
      matched: counted,
      step: {
        rule: rule.ref,
        outcome: 'condition_error',
        detail: `${detail}: ${why} (${taken})`,
      },
    }
  }
}

/** The decision of `decide`, with every rule that speaks of the capability and what became of it. */
export const trace = (
  chain: Chain,
  question: PolicyQuestion,
): { readonly decision: Decision; readonly steps: readonly TraceStep[] } => {
  const steps: TraceStep[] = []
  const floors: LayerRule[] = []
  let deciding: LayerRule | null = null
  for (const level of chain) {
    let found: LayerRule | null = null
    for (const rule of [...level.rules, ...level.shadowed]) {
      if (found) {
        steps.push({ rule: rule.ref, outcome: 'shadowed' })
        continue
      }
      const { matched, step } = look(rule, question)
      steps.push(step)
      if (matched) found = rule
    }
    if (!found) continue
    if (!deciding) deciding = found
    else if (found.floor) floors.push(found)
    else steps.push({ rule: found.ref, outcome: 'shadowed', detail: 'a lower layer decides' })
  }
  const decision = verdictOf(deciding, floors)
  for (const floor of floors) steps.push({ rule: floor.ref, outcome: 'floor' })
  if (decision.rule) steps.push({ rule: decision.rule, outcome: 'decided' })
  return { decision, steps }
}
