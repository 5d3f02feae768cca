import { expect, test } from 'vitest'
import { compareWithExemptions } from './exemptions.mjs'

test('passes what is listed, as often as it is listed', () => {
  expect(compareWithExemptions(['a', 'b', 'a'], ['a', 'a', 'b'])).toEqual([])
  expect(compareWithExemptions(['a', 'a', 'c'], ['a'])).toEqual(['a', 'c'])
})

test('fails for a line that is no longer needed, so that the list shrinks', () => {
  expect(compareWithExemptions(['a'], ['a', 'a', 'b'])).toEqual([
    'no longer needed: a',
    'no longer needed: b',
  ])
})
