import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileDiff, lineDiff } from './line-diff.ts'

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

/** Length of the longest list of lines that both have in that order. */
function commonLines(a: readonly string[], b: readonly string[]): number {
  let row: readonly number[] = b.map(() => 0)
  for (const line of a) {
    const next: number[] = []
    b.forEach((other, at) => {
      next.push(line === other ? (row[at - 1] ?? 0) + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0))
    })
    row = next
  }
  return row.at(-1) ?? 0
}

test('keeps as many lines as both texts have in common', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 14 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join('\n'), after.join('\n')).split('\n')
      const kept = lines.filter((line) => line.startsWith(' '))
      expect(kept).toHaveLength(commonLines(before, after))
    }),
  )
})

const numbered = (count: number, word = 'line'): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${word} ${at + 1}`)
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`

test('a changed line of a file has three lines around it', () => {
  expect(fileDiff(text(numbered(20)), text(numbered(20).with(9, 'line ten')))).toBe(
    [
      '@@ -7 +7 @@',
      ...[' line 7', ' line 8', ' line 9', '-line 10', '+line ten'],
      ...[' line 11', ' line 12', ' line 13'],
    ].join('\n'),
  )
})

test('changes of a file that are far apart stand apart, each at its line in both texts', () => {
  const changed = ['first', ...numbered(30).slice(0, 28), 'line 30']
  const told = fileDiff(text(numbered(30)), text(changed)).split('\n')
  expect(told.filter((line) => /^(@@|[+-])/.test(line))).toEqual([
    '@@ -1 +1 @@',
    '+first',
    '@@ -26 +27 @@',
    '-line 29',
  ])
})

test('files that differ in thousands of lines are told as one that goes and one that comes', () => {
  const told = fileDiff(text(numbered(3_000, 'old')), text(numbered(3_000, 'new'))).split('\n')
  expect(told.slice(0, 2)).toEqual(['@@ -1 +1 @@', '-old 1'])
  expect(told.at(-1)).toBe('+new 3000')
  expect(told).toHaveLength(6_001)
})

test('a missing line end at the end of a file is no difference, and an empty file becomes all of the other', () => {
  expect(fileDiff('a\nb', 'a\nb\n')).toBe('')
  expect(fileDiff('', 'a\nb\n')).toBe('@@ -1 +1 @@\n+a\n+b')
})
