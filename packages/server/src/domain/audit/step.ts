import type { LogRow } from './row.ts'

/**
 * Part of an entry in the life of a call. `request`: a call that waits for a person. `call`: one that was answered
 * without. `run`: the end of a call that had waited. `intent` and `delivery` stand before and after those.
 * `decision`: a person approved or rejected.
 */
export type Step = 'act' | 'decision' | 'intent' | 'request' | 'call' | 'run' | 'delivery'

type Stepped = Pick<
  LogRow,
  'kind' | 'capability' | 'result' | 'policy_decision' | 'approval_id' | 'detail'
>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** A fact of an entry's detail. Files of the log may be written by somebody else, so it may be anything. */
const factOf = ({ detail }: Pick<LogRow, 'detail'>, name: string): unknown =>
  isObject(detail) ? detail[name] : undefined

/** Intents of calls that policy asks about: by a grant, of an approved request, and of one that a person's change made. */
const intentFacts = ['grant_id', 'execution', 'edited_from']

export const stepOf = (row: Stepped): Step => {
  const { kind, capability, result, approval_id } = row
  if (kind !== 'call')
    return capability === 'approval.approved' || capability === 'approval.rejected'
      ? 'decision'
      : 'act'
  if (result === 'pending') {
    const isRequest = row.policy_decision === 'approval_required' && approval_id !== null
    return isRequest && intentFacts.every((name) => factOf(row, name) === undefined)
      ? 'request'
      : 'intent'
  }
  if (factOf(row, 'delivered') === true) return 'delivery'
  return approval_id === null ? 'call' : 'run'
}

/** The service that a call used or is about; empty where it names none. */
export const serviceOf = (row: Pick<LogRow, 'kind' | 'detail'>): string => {
  const service = row.kind === 'call' ? factOf(row, 'service') : undefined
  return typeof service === 'string' ? service : ''
}
