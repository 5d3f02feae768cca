import { expect, test } from 'vitest'
import { LoginUses } from './login-uses.ts'

test('the last use of a login is known until the login has expired', () => {
  let nowMs = 1_000
  const uses = new LoginUses({ now: () => nowMs }, 500)
  expect(uses.lastOf('ana')).toBeNull()
  uses.used('ana', '192.0.2.1')
  nowMs += 100
  uses.used('ana', '192.0.2.2')
  uses.used('ben', '192.0.2.3')
  nowMs += 100
  uses.used('ben', '192.0.2.4')
  expect(uses.lastOf('ana')).toEqual({ atMs: 1_100, address: '192.0.2.2' })
  nowMs += 399
  uses.sweep()
  expect(uses.lastOf('ana')).not.toBeNull()
  nowMs += 1
  uses.sweep()
  expect([uses.lastOf('ana'), uses.lastOf('ben')]).toEqual([
    null,
    { atMs: 1_200, address: '192.0.2.4' },
  ])
})
