import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { replyToAll, wantedIn } from './asked-questions.ts'

const failed = (detail: string) =>
  new GatehouseError('UpstreamFailed', { upstream: 'scripted', detail })

const never = () => Promise.reject(new Error('nobody is to be asked'))

test.each([
  ['sampling/createMessage', 'an answer of a model'],
  ['roots/list', 'granted when it is added'],
  ['tools/call', 'not known here'],
])('what only looks like a question is refused: %s', async (method, said) => {
  const wanted = wantedIn(
    { resultType: 'input_required', inputRequests: { a: { method, params: {} } } },
    failed,
  )
  if (wanted === null) throw new Error('it is no answer')
  await expect(replyToAll(wanted, never, failed)).rejects.toMatchObject({
    type: 'UpstreamFailed',
    message: expect.stringContaining(said),
  })
})

test('a heap of questions is refused whole', () => {
  const entries = Array.from({ length: 11 }, (_, i) => [`q${i}`, { method: 'elicitation/create' }])
  const result = { resultType: 'input_required', inputRequests: Object.fromEntries(entries) }
  expect(() => wantedIn(result, failed)).toThrow(/more than 10 things/)
  expect(wantedIn({ content: [] }, failed)).toBe(null)
})
