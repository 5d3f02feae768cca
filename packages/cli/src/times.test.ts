import { expect, test } from 'vitest'
import { shownDuration, shownTime, timeAgo } from './times.ts'

test('reads times ago, and leaves other times to the server', () => {
  const now = Date.parse('2026-03-02T12:00:00.000Z')
  expect(timeAgo('90m', now)).toBe('2026-03-02T10:30:00.000Z')
  expect(timeAgo('1d', now)).toBe('2026-03-01T12:00:00.000Z')
  expect(timeAgo('2026-03-01', now)).toBe('2026-03-01')
})

test('shows times and durations in words', () => {
  expect(shownTime('2026-03-01T12:00:00.123Z')).toBe('2026-03-01 12:00:00Z')
  expect(shownTime(null)).toBe('never')
  expect([0, 61, 3_600, 200_000].map(shownDuration)).toEqual(['0 s', '1 min 1 s', '1 h', '2 d 7 h'])
})
