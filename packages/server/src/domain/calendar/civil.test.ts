import fc from 'fast-check'
import { expect, test } from 'vitest'
import { civilOf, clockText, dateText, dayNumber, stampText, wallAt } from './civil.ts'

test('days and times are those of the Gregorian calendar, from the year 1 to 9999', () => {
  const least = new Date('0001-01-01T00:00:00Z').getTime()
  const most = Date.UTC(9999, 11, 31, 23, 59, 59)
  fc.assert(
    fc.property(fc.integer({ min: least / 1000, max: Math.floor(most / 1000) }), (seconds) => {
      const wall = seconds * 1000
      const date = new Date(wall)
      expect(`${dateText(wall)}T${clockText(wall)}.000Z`).toBe(date.toISOString())
      const { year, month, day, hour, minute, second, weekday } = civilOf(wall)
      expect(weekday).toBe((date.getUTCDay() + 6) % 7)
      expect(wallAt(year, month, day, hour, minute, second)).toBe(wall)
    }),
  )
})

test('a month beyond the year is one of another year', () => {
  expect(dayNumber(2026, 13, 1)).toBe(dayNumber(2027, 1, 1))
  expect(dayNumber(2026, 0, 1)).toBe(dayNumber(2025, 12, 1))
  expect(stampText(wallAt(2026, 3, 30, 9))).toBe('20260330T090000')
})
