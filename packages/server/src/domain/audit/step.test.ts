import { expect, test } from 'vitest'
import { type Step, serviceOf, stepOf } from './step.ts'

const call = {
  kind: 'call',
  capability: 'email.send',
  result: 'success',
  policy_decision: 'autonomous',
  approval_id: null,
  detail: null,
} as const
const waits = {
  ...call,
  result: 'pending',
  policy_decision: 'approval_required',
  approval_id: 'appr-1',
} as const

const steps: Record<string, [Partial<Parameters<typeof stepOf>[0]>, Step]> = {
  'a call answered at once': [call, 'call'],
  'the end of a call that had waited': [{ ...call, approval_id: 'appr-1' }, 'run'],
  'an outcome that reached the agent': [
    { ...call, approval_id: 'appr-1', detail: { delivered: true } },
    'delivery',
  ],
  'an outcome that did not reach the agent': [
    { ...call, approval_id: 'appr-1', detail: { delivered: 'yes' } },
    'run',
  ],
  'a call with a detail that is a text': [{ ...call, detail: 'delivered' }, 'call'],
  'a call without a detail': [{ ...call, detail: undefined }, 'call'],
  'a request for a person': [waits, 'request'],
  'an intent of a call without a person': [{ ...call, result: 'pending' }, 'intent'],
  'an intent by a policy of other times': [{ ...waits, policy_decision: null }, 'intent'],
  'an intent that names no request': [{ ...waits, approval_id: null }, 'intent'],
  'an intent by a grant': [{ ...waits, detail: { grant_id: 'g' } }, 'intent'],
  'an intent of an approved request': [{ ...waits, detail: { execution: 'exec-1' } }, 'intent'],
  'an intent of changed arguments': [{ ...waits, detail: { edited_from: 'appr-0' } }, 'intent'],
  'an approval': [{ ...call, kind: 'act', capability: 'approval.approved' }, 'decision'],
  'a rejection': [{ ...call, kind: 'act', capability: 'approval.rejected' }, 'decision'],
  'another act': [{ ...waits, kind: 'act', capability: 'approval.expired' }, 'act'],
  'a call with the name of an act': [{ ...call, capability: 'approval.approved' }, 'call'],
}

test.each(Object.entries(steps))('%s is told from the other entries', (_name, [row, step]) => {
  expect(stepOf({ ...call, ...row })).toBe(step)
})

test('names the service of a call, and none of anything else', () => {
  expect(serviceOf({ kind: 'call', detail: { service: 'github' } })).toBe('github')
  expect(serviceOf({ kind: 'act', detail: { service: 'github' } })).toBe('')
  expect(serviceOf({ kind: 'call', detail: { service: 7 } })).toBe('')
  expect(serviceOf({ kind: 'call', detail: null })).toBe('')
})
