import type { PolicyTier } from '@gatehouse/contract'
import type { Chain, Level } from './chain.ts'
import { matchesOnError } from './decide.ts'
import { tierOf, verdictOf } from './tiers.ts'
import type { LayerRule, ListedTier, PolicyQuestion } from './types.ts'

type Outlook = {
  /** The rule that matches when no condition on arguments holds. */
  readonly base: LayerRule | null
  /** Every rule that some arguments could make match, one of each effect; null: none matches. */
  readonly possible: readonly (LayerRule | null)[]
}

const withoutArguments = (rule: LayerRule, question: PolicyQuestion): boolean => {
  if (rule.when === null) return true
  try {
    return rule.when.evaluate(question)
  } catch {
    return matchesOnError(rule)
  }
}

const decideOutlook = (level: Level, question: PolicyQuestion): Outlook => {
  const possible = new Map<string, LayerRule | null>()
  for (const rule of level.rules) {
    const effect = `${rule.tier} ${rule.floor}`
    if (rule.when?.readsArguments) {
      if (!possible.has(effect)) possible.set(effect, rule)
    } else if (withoutArguments(rule, question)) {
      possible.set(effect, rule)
      return { base: rule, possible: [...possible.values()] }
    }
  }
  possible.set('none', null)
  return { base: null, possible: [...possible.values()] }
}

const tierFor = (matches: readonly (LayerRule | null)[]): PolicyTier => {
  const [deciding = null, ...above] = matches.filter((rule) => rule !== null)
  return tierOf(
    verdictOf(
      deciding,
      above.filter((rule) => rule.floor),
    ),
  )
}

/** Each way to choose one from every list. There are at most seven choices a layer, three layers. */
const combinations = <T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  lists.reduce<readonly (readonly T[])[]>(
    (ways, list) => ways.flatMap((way) => list.map((item) => [...way, item])),
    [[]],
  )

/**
 * Tier in a listing: that of a call for which no condition on arguments is met; where that is
 * blocked, the strictest tier that some call could pass with.
 */
export const listed = (chain: Chain, asked: Omit<PolicyQuestion, 'args'>): ListedTier => {
  const question = { ...asked, args: {} }
  const outlooks = chain.map((level) => decideOutlook(level, question))
  const base = tierFor(outlooks.map((outlook) => outlook.base))
  if (base !== 'blocked') return base
  const tiers = new Set(combinations(outlooks.map((outlook) => outlook.possible)).map(tierFor))
  return tiers.has('approval_required')
    ? 'approval_required'
    : tiers.has('autonomous')
      ? 'autonomous'
      : 'blocked'
}
