import { expect, test } from 'vitest'
import { relativeText } from './time.tsx'

test('a time that has passed is none of the future, however long ago the clock of the page last ticked', () => {
  const now = Date.now()
  expect(relativeText(now - 5_000, now - 25_000)).toBe('just now')
  expect(relativeText(now - 90_000, now - 25_000)).toBe('1 minute ago')
  expect(relativeText(now + 300_000, now)).toBe('in 5 minutes')
})
