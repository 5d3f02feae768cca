import type { ActivityEvent } from '@gatehouse/contract'

export type Outcome = 'ran' | 'failed' | 'denied' | 'limited' | 'held' | 'act'

const limits = /^(?:RateLimited|TooMany.*|Overloaded|.*Busy)$/

/** How an event is marked. What is no call is an act. */
export function outcomeOf({ type, result, error, policy_decision }: ActivityEvent): Outcome {
  if (
    type === 'approval_requested' ||
    (result === 'pending' && policy_decision === 'approval_required')
  )
    return 'held'
  if (type !== 'capability_invoked') return 'act'
  if (error !== null && limits.test(error)) return 'limited'
  if (result === 'denied' || result === 'rejected') return 'denied'
  if (result === 'pending') return 'held'
  return result === 'error' ? 'failed' : 'ran'
}

export const choices = ['all', 'calls', 'held', 'denied', 'limited', 'failed', 'acts'] as const
export type Choice = (typeof choices)[number]

/** Whether an event is among what was chosen. */
export function isChosen(event: ActivityEvent, choice: Choice): boolean {
  const outcome = outcomeOf(event)
  switch (choice) {
    case 'all':
      return true
    case 'calls':
      return outcome !== 'act'
    case 'acts':
      return outcome === 'act'
    case 'held':
    case 'denied':
    case 'limited':
    case 'failed':
      return outcome === choice
  }
}
