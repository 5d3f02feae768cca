import { expect, test } from 'vitest'
import { LoopLag } from './loop-lag.ts'

test('a loop lags after three seconds of looks that are late, until one is on time', () => {
  const lag = new LoopLag(500, 3_000, 0)
  let now = 0
  const look = (afterMs: number): boolean => {
    now += afterMs
    lag.look(now, 500)
    return lag.lags
  }
  expect([look(500), look(1_000), look(500)]).toEqual([false, false, false])
  expect([look(1_100), look(1_100), look(1_100)]).toEqual([false, false, true])
  expect(look(1_100)).toBe(true)
  expect(look(600)).toBe(false)
  expect(look(1_100)).toBe(false)
})
