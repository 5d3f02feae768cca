import { expect, test } from 'vitest'
import { type Attempt, LoginAttempts } from './login-attempts.ts'

const open = () => {
  const clock = { ms: 1_000_000, now: () => clock.ms }
  return { clock, attempts: new LoginAttempts(clock) }
}

const begin = (attempts: LoginAttempts, address = 'here'): Attempt => {
  const attempt = attempts.begin(address)
  if (typeof attempt === 'number') throw new Error(`wait ${attempt} s`)
  return attempt
}

test('lets five fail in a minute, and says when the next may be made', () => {
  const { clock, attempts } = open()
  for (let i = 0; i < 5; i += 1) {
    begin(attempts).failed()
    clock.ms += 1_000
  }
  expect(attempts.begin('here')).toBe(55)
  expect(typeof attempts.begin('elsewhere')).toBe('object')
  clock.ms += 54_999
  expect(attempts.begin('here')).toBe(1)
  clock.ms += 1
  expect(typeof attempts.begin('here')).toBe('object')
  expect(attempts.begin('here')).toBe(1)
})

test('counts those under way as failed, and gives back those that were right', () => {
  const { attempts } = open()
  const under = Array.from({ length: 5 }, () => begin(attempts))
  expect(typeof attempts.begin('here')).toBe('number')
  for (const attempt of under) attempt.succeeded()
  for (let i = 0; i < 20; i += 1) begin(attempts).succeeded()
  expect(typeof attempts.begin('here')).toBe('object')
})

test('reports the first failure of a minute at once and the rest as a number', () => {
  const { clock, attempts } = open()
  expect([1, 2, 3].map(() => begin(attempts).failed())).toEqual([1, 0, 0])
  expect(attempts.sweep()).toEqual([])
  clock.ms += 60_000
  expect(attempts.sweep()).toEqual([{ address: 'here', count: 2 }])
  clock.ms += 60_000
  expect(attempts.sweep()).toEqual([])
  expect(begin(attempts).failed()).toBe(1)
})
