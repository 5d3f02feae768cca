import type { PolicyTier } from '@gatehouse/contract'
import { networkOf } from './network.ts'
import type { Decision, LayerRule } from './types.ts'

const strictness: Readonly<Record<PolicyTier, number>> = {
  autonomous: 0,
  approval_required: 1,
  blocked: 2,
}

export const isStricter = (a: PolicyTier, b: PolicyTier): boolean => strictness[a] > strictness[b]

const kinds = { autonomous: 'allow', approval_required: 'ask', blocked: 'deny' } as const

/** A capability that no layer mentions is denied. */
const unmentioned: Decision = { kind: 'deny', rule: null, reason: null, notify: false }

/**
 * The verdict of the rule that decides under the floors of higher layers, lowest first. A floor that
 * tightens the result is the rule named; of several equally strict ones the highest.
 */
export const verdictOf = (deciding: LayerRule | null, floors: readonly LayerRule[]): Decision => {
  if (!deciding) return unmentioned
  let named = deciding
  let notify = deciding.notify
  for (const floor of floors) {
    notify ||= floor.notify
    // @SECURITY no lower layer is ever looser than a matched floor (decide.test.ts, "never loosens").
    if (isStricter(floor.tier, named.tier) || (named !== deciding && floor.tier === named.tier)) {
      named = floor
    }
  }
  const network = networkOf(deciding, floors)
  // @SECURITY A matched floor that is critical stays so under a lower rule that asks; decide.test.ts.
  const critical = [deciding, ...floors].some((rule) => rule.critical)
  return {
    kind: kinds[named.tier],
    rule: named.ref,
    reason: named.reason,
    notify,
    ...(critical ? { critical } : {}),
    ...(network ? { network } : {}),
  }
}

export const tierOf = (decision: Decision): PolicyTier =>
  decision.kind === 'allow'
    ? 'autonomous'
    : decision.kind === 'ask'
      ? 'approval_required'
      : 'blocked'
