import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff } from './line-diff.ts'

test('marks what is gone and what is new, and keeps the rest', () => {
  expect(lineDiff('a\nb\nc', 'a\nx\nc\nd')).toBe(' a\n-b\n+x\n c\n+d')
  expect(lineDiff('same', 'same')).toBe(' same')
})

test('gives both texts back, whatever they are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join('\n'), after.join('\n')).split('\n')
      const side = (mark: string) =>
        lines.filter((line) => line[0] === ' ' || line[0] === mark).map((line) => line.slice(1))
      expect(side('-')).toEqual(before)
      expect(side('+')).toEqual(after)
    }),
  )
})
