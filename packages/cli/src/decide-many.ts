import type { DecideOutcomes } from '@gatehouse/contract'
import { decidedText, outcomeText } from './run-outcome.ts'

const said = {
  decided: 'decided',
  not_pending: 'was not waiting any more',
  not_found: 'is not there',
  digest_mismatch: 'is not what was shown, so it still waits',
  stale: 'is stale, so it cannot be approved; reject it or let the agent ask again',
  login_too_old: 'is critical and wants a login of the last 15 minutes, so it still waits',
  digest_required: 'is critical and wants the digest that was shown, so it still waits',
} as const

/** Outcomes of many requests, a line for each. */
export const outcomesText = ({ outcomes }: DecideOutcomes): string =>
  outcomes
    .map(({ id, outcome, approval }) => {
      if (outcome === 'decided' && approval)
        return [decidedText(approval), outcomeText(approval)].filter((line) => line).join('\n')
      const by = outcome === 'not_pending' && approval ? `: ${approval.status}` : ''
      return `${id} ${said[outcome]}${by}.`
    })
    .join('\n')

export const allDecided = ({ outcomes }: DecideOutcomes): boolean =>
  outcomes.every(({ outcome }) => outcome === 'decided')
