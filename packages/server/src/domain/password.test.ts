import { expect, test } from 'vitest'
import { normalPassword, passwordFault } from './password.ts'

test.each([
  ['short', 'shorter'],
  ['x'.repeat(1_025), 'longer'],
  ['ü'.repeat(513), 'longer'],
  ['Password123', 'tried first'],
  ['aaaaaaaaaaaa', 'repeats'],
  ['operator-12', 'the name'],
])('does not take %.20s', (password, why) => {
  expect(passwordFault(password, 'operator')).toContain(why)
})

test.each(['correct horse battery', 'ünïcödé', 'x1y2z3a4', `${'long '.repeat(200)}`])(
  'takes %.20s',
  (password) => {
    expect(passwordFault(password, 'operator')).toBeNull()
  },
)

test('takes both ways to type an umlaut for one password', () => {
  expect(normalPassword('grün')).toBe(normalPassword('grün'))
})
