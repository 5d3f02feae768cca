import { expect, test } from 'vitest'
import { wallTime } from './wall-time.ts'

const newYear = Date.UTC(2027, 0, 1)

test('a moment is told as the same time, however the two clocks round and whenever each is read', () => {
  let lateMs = 0
  const clock = { wall: () => newYear + 5_000 + lateMs, now: () => 5_000 }
  const told = [0, 1, -1, 0, 20, 1].map((ms) => {
    lateMs = ms
    return wallTime(clock, 60_000)
  })
  expect(new Set(told)).toEqual(new Set(['2027-01-01T00:01:00.000Z']))
})

test('a wall clock that is set anew moves the time that is told', () => {
  let wallMs = newYear
  const clock = { wall: () => wallMs, now: () => 0 }
  expect(wallTime(clock, 1_000)).toBe('2027-01-01T00:00:01.000Z')
  wallMs += 3_600_000
  expect(wallTime(clock, 1_000)).toBe('2027-01-01T01:00:01.000Z')
})

test('each clock has a distance of its own', () => {
  const at = (startMs: number) => ({ wall: () => newYear + startMs, now: () => 0 })
  expect(wallTime(at(0), 0)).toBe('2027-01-01T00:00:00.000Z')
  expect(wallTime(at(50), 0)).toBe('2027-01-01T00:00:00.050Z')
})
