import { expect, test } from 'vitest'
import { clockAheadMs, standingOf } from './nodes.ts'

test('a node is missing when it was not seen for ten seconds, unless it stopped', () => {
  const of = (state: 'active' | 'draining' | 'stopped', ago: number) =>
    standingOf({ state, seen_ms: 50_000 - ago }, 50_000)
  expect([of('active', 10_000), of('draining', 10_000)]).toEqual(['active', 'draining'])
  expect([of('active', 10_001), of('draining', 10_001)]).toEqual(['missing', 'missing'])
  expect(of('stopped', 1e6)).toBe('stopped')
})

test('a slow answer makes no clock wrong: only what it cannot explain counts', () => {
  expect(clockAheadMs(1_000, 1_500, 3_000)).toBe(0)
  expect(clockAheadMs(1_000, 900, 3_000)).toBe(100)
  expect(clockAheadMs(1_000, 3_200, 3_000)).toBe(-200)
})
