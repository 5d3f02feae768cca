import { matchesOnError } from './decide.ts'
import { covers, groupOf, rulePatternsOf } from './match.ts'
import { isStricter } from './tiers.ts'
import type { Layer, LayerRule } from './types.ts'

/** A rule that does nothing, or not what it says, and the rule because of which. */
export type DeadRule = {
  readonly rule: LayerRule
  readonly because: LayerRule
  readonly kind: 'never_reached' | 'overridden'
}

const conditionOf = ({ when }: LayerRule): string => when?.source ?? ''

const widerPatterns = (match: string): readonly string[] =>
  match === '*' ? ['*'] : rulePatternsOf(match)

/** Whether an earlier rule with this condition holds wherever a later one with the same does: also where it fails. */
const holdsAlike = (earlier: LayerRule, later: LayerRule): boolean =>
  earlier.when === null || matchesOnError(earlier) || !matchesOnError(later)

/** Rules after one that always matches first, within a layer. Linear in the number of rules. */
const unreached = (rules: readonly LayerRule[]): readonly DeadRule[] => {
  const seen = new Map<string, LayerRule>()
  return rules.flatMap((rule): readonly DeadRule[] => {
    const condition = conditionOf(rule)
    const because = widerPatterns(rule.match)
      .flatMap((pattern) => [seen.get(`${pattern}\n`), seen.get(`${pattern}\n${condition}`)])
      .find((earlier) => earlier !== undefined && holdsAlike(earlier, rule))
    const key = `${rule.match}\n${condition}`
    if (!seen.has(key)) seen.set(key, rule)
    return because ? [{ rule, because, kind: 'never_reached' }] : []
  })
}

/**
 * Floors that match whatever their pattern covers and their condition holds for, by both: nothing before them
 * could match first.
 */
const sureFloors = (rules: readonly LayerRule[]): ReadonlyMap<string, LayerRule> => {
  const floors = new Map<string, LayerRule>()
  const before = new Set<string>()
  for (const rule of rules) {
    const open =
      rule.floor &&
      !before.has('*') &&
      !before.has(groupOf(rule.match)) &&
      (rule.match !== '*' || before.size === 0)
    const key = `${rule.match}\n${conditionOf(rule)}`
    if (open && !floors.has(key)) floors.set(key, rule)
    before.add(rule.match === '*' ? '*' : groupOf(rule.match))
  }
  return floors
}

const overridden = (
  rules: readonly LayerRule[],
  floors: ReadonlyMap<string, LayerRule>,
): readonly DeadRule[] =>
  rules.flatMap((rule): readonly DeadRule[] => {
    const because = widerPatterns(rule.match)
      .flatMap((pattern) =>
        ['', conditionOf(rule)].flatMap(
          (condition) => floors.get(`${pattern}\n${condition}`) ?? [],
        ),
      )
      .find((floor) => covers(floor.match, rule.match) && isStricter(floor.tier, rule.tier))
    return because ? [{ rule, because, kind: 'overridden' }] : []
  })

const order = ['system', 'organisation', 'agent'] as const

/** Rules of a layer that cannot do what they say, given the layers above it. */
export const findDeadRules = (layer: Layer, above: readonly Layer[]): readonly DeadRule[] => [
  ...unreached(layer.rules),
  ...above
    .filter((other) => order.indexOf(other.layer) < order.indexOf(layer.layer))
    .flatMap((other) => overridden(layer.rules, sureFloors(other.rules))),
]
