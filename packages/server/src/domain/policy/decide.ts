import type { Chain } from './chain.ts'
import { verdictOf } from './tiers.ts'
import type { Decision, LayerRule, PolicyQuestion } from './types.ts'

/** A condition that cannot be evaluated holds where holding is the safe side, and only there. */
export const matchesOnError = (rule: LayerRule): boolean =>
  // @SECURITY Fail closed: a rule that loosens needs a condition that is true for certain; decide.test.ts.
  rule.tier !== 'autonomous'

const holds = (rule: LayerRule, question: PolicyQuestion): boolean => {
  if (rule.when === null) return true
  try {
    return rule.when.evaluate(question)
  } catch {
    return matchesOnError(rule)
  }
}

const firstMatch = (rules: readonly LayerRule[], question: PolicyQuestion): LayerRule | null => {
  for (const rule of rules) if (holds(rule, question)) return rule
  return null
}

const none: readonly LayerRule[] = []

/** The lowest layer that has a matching rule decides, under the matched floors of those above it. */
export const decide = (chain: Chain, question: PolicyQuestion): Decision => {
  let deciding: LayerRule | null = null
  let floors = none
  for (const level of chain) {
    // Above the deciding layer only floors count: most layers have none and cost nothing.
    if (deciding !== null && !level.hasFloor) continue
    const rule = firstMatch(level.rules, question)
    if (rule === null) continue
    if (deciding === null) deciding = rule
    else if (rule.floor) floors = [...floors, rule]
  }
  return verdictOf(deciding, floors)
}
