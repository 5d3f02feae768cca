import { expect, test } from 'vitest'
import { inZone } from '../test/in-zone.ts'
import { shownClock, shownDuration, shownTime, shownTimes, timeAgo } from './times.ts'

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

test.each([
  ['Asia/Kolkata', '2026-03-01T12:00:00.000Z', '2026-03-01 12:00:00Z (17:30 local)'],
  ['Asia/Kolkata', '2026-03-01T20:00:00.000Z', '2026-03-01 20:00:00Z (03-02 01:30 local)'],
  ['America/New_York', '2026-07-01T02:00:00.000Z', '2026-07-01 02:00:00Z (06-30 22:00 local)'],
  ['Europe/London', '2026-03-01T12:00:00.000Z', '2026-03-01 12:00:00Z'],
  ['Europe/London', '2026-07-01T12:00:00.000Z', '2026-07-01 12:00:00Z (13:00 local)'],
  ['UTC', '2026-03-01T12:00:00.000Z', '2026-03-01 12:00:00Z'],
])('shows the local time of %s beside UTC, where it is another', (zone, timestamp, shown) => {
  expect(inZone(zone, () => shownTimes(timestamp))).toBe(shown)
})

test('shows the clock of an event, and no local time where there is no time', () => {
  inZone('Asia/Kolkata', () => {
    expect(shownClock('2026-03-01T12:00:00.123Z')).toBe('12:00:00.123Z (17:30 local)')
    expect(shownTimes(null, 'open')).toBe('open')
    expect(shownTimes('not a time')).not.toContain('local')
  })
})
