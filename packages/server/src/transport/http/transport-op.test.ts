import { expect, test } from 'vitest'
import { Cancellation } from './transport-op.ts'

test('a signal asked for late knows what happened before', () => {
  const cancellation = new Cancellation()
  cancellation.abort('reason')
  expect(cancellation.signal.aborted).toBe(true)
  expect(cancellation.signal.reason).toBe('reason')
})

test('a signal asked for early is told, once', () => {
  const cancellation = new Cancellation()
  let told = 0
  cancellation.signal.addEventListener('abort', () => told++)
  cancellation.abort('first')
  cancellation.abort('second')
  expect(told).toBe(1)
  expect(cancellation.signal.reason).toBe('first')
})

test('a part ends with the whole, and can end without it', () => {
  const whole = new Cancellation()
  const [one, two] = [whole.part(), whole.part()]
  one.abort()
  expect([whole.aborted, one.aborted, two.aborted]).toEqual([false, true, false])
  whole.abort()
  expect(two.signal.aborted).toBe(true)
  expect(whole.part().aborted).toBe(true)
})
