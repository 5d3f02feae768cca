import { expect, test } from 'vitest'
import { createCalendar } from './calendar.ts'

const next = (cron: string, zone: string, after: string): string | null => {
  const ms = createCalendar().next(cron, zone, Date.parse(after))
  return ms === null ? null : new Date(ms).toISOString()
}

test('says when five fields come round next, never at the moment itself', () => {
  expect(next('0 9 * * 1-5', 'UTC', '2026-01-02T09:00:00Z')).toBe('2026-01-05T09:00:00.000Z')
  expect(next('*/15 * * * *', 'UTC', '2026-01-01T00:00:00.500Z')).toBe('2026-01-01T00:15:00.000Z')
  expect(next('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z')
  expect(next('0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z')).toBeNull()
})

test('keeps to the clock on the wall where it changes, once in each night', () => {
  const summer = next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z')
  expect(summer).toBe('2026-03-29T01:00:00.000Z')
  const winter = next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z')
  expect(winter).toBe('2026-10-25T00:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Berlin', winter ?? '')).toBe('2026-10-26T01:30:00.000Z')
})

test('refuses fields and zones that do not exist, and says which', () => {
  expect(() => next('61 * * * *', 'UTC', '2026-01-01T00:00:00Z')).toThrow('61 * * * *')
  expect(() => next('* * * * * *', 'UTC', '2026-01-01T00:00:00Z')).toThrow('five cron fields')
  expect(() => next('* * * * *', 'Mars/Olympus', '2026-01-01T00:00:00Z')).toThrow('Mars/Olympus')
})
