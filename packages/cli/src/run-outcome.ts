import type { Approval } from '@gatehouse/contract'
import { callText } from './approval-card.ts'
import { escapeText } from './escape-text.ts'

const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'refused', 'interrupted'])

/** Whether nothing more happens to a request. */
export const isFinal = ({ status, execution }: Approval): boolean =>
  status !== 'pending' && (status !== 'approved' || ended.has(execution.state))

/** Decision and decider. */
export function decidedText(approval: Approval): string {
  const by = approval.decided_by ? ` by ${approval.decided_by}` : ''
  return escapeText(`${approval.id} (${callText(approval)}) is ${approval.status}${by}.`)
}

/** Outcome of the run; null where nothing was to run. */
export function outcomeText(approval: Approval): string | null {
  const { execution, status } = approval
  if (status !== 'approved') return null
  const { state, result } = execution
  const what = callText(approval)
  const error = result?.success === false ? `${result.error.message} (${result.error.type})` : ''
  const said = {
    waiting: 'has not run yet',
    running: 'is running',
    succeeded: 'ran and succeeded',
    failed: 'ran and failed',
    refused: 'was not run',
    interrupted: 'was interrupted; check what was done, it does not run again',
  }[state]
  return escapeText(error === '' ? `${what} ${said}.` : `${what} ${said}: ${error}`)
}
