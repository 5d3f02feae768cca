import { expect, test } from 'vitest'
import { attemptCall } from './attempts.ts'
import { toFailure, toRpcError } from './to-error.ts'

const never = new AbortController().signal

/** How often a call is made that always ends so. */
const attemptsAt = async (error: Error): Promise<number> => {
  let made = 0
  const work = (): Promise<never> => {
    made += 1
    return Promise.reject(error)
  }
  await expect(attemptCall(work, 2, never)).rejects.toBe(error)
  return made
}

const soon = { retry_after_seconds: 0 }

test('a call that the gate refused for now is made again', async () => {
  const limited = toRpcError({ code: -32000, message: 'later', data: soon })
  const overloaded = { ...soon, reason: 'overloaded' }
  expect(await attemptsAt(limited)).toBe(3)
  expect(await attemptsAt(toRpcError({ code: -32000, data: overloaded }))).toBe(3)
})

test('a call that failed on its way is not made again, whatever it calls its failure', async () => {
  for (const type of ['Overloaded', 'RateLimited', 'TooManyFailures'])
    expect(await attemptsAt(toFailure({ type, message: 'no', ...soon }))).toBe(1)
})

test.each([
  ['a limit that only people lift', { ...soon, reason: 'too_many_pending' }],
  ['a limit that is far away', { retry_after_seconds: 61 }],
])('%s is for the caller', async (_name, data) => {
  expect(await attemptsAt(toRpcError({ code: -32000, data }))).toBe(1)
})
