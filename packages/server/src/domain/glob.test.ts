import { GatehouseError } from '@gatehouse/contract'
import { processorMs } from '@gatehouse/testkit/processor-time'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseGlob } from './glob.ts'

const hits = (pattern: string, path: string): boolean => parseGlob(pattern).matches(path)

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'src/deep/a.ts', true],
  ['*.ts', 'a.tsx', false],
  ['/*.ts', 'a.ts', true],
  ['/*.ts', 'src/a.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/b/a.ts', false],
  ['src/**/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/b/c/a.ts', true],
  ['src/**/*.ts', 'lib/b/c/a.ts', false],
  ['**/x/**/y', 'a/x/b/x/c/y', true],
  ['**', 'a/b/c', true],
  ['a**b', 'axxb', true],
  ['a?c', 'abc', true],
  ['a?c', 'a😀c', true],
  ['a?c', 'ac', false],
  ['[id].ts', '[id].ts', true],
  ['A.ts', 'a.ts', false],
])('%s on %s is %s', (pattern, path, expected) => {
  expect(hits(pattern, path)).toBe(expected)
})

test.each([
  '*(*(*(a)))b',
  '+(+(a))b',
  `${'*a'.repeat(10)}b`,
  '{a,b}'.repeat(20),
  '{1..1000000}',
  '**/'.repeat(50),
  '['.repeat(10_000),
  '*?'.repeat(128),
  `${'*a'.repeat(127)}b`,
  `${'**/a*/'.repeat(42)}b`,
])('answers or refuses the hostile pattern %s within 50 ms of processor time', (pattern) => {
  // The best of three: what takes exponential time takes it each time.
  const took = [1, 2, 3].map(() => {
    const started = processorMs()
    try {
      const glob = parseGlob(pattern)
      glob.matches('a'.repeat(37))
      glob.matches('a'.repeat(255))
      glob.matches(`${'aaa/'.repeat(63)}${'a'.repeat(255)}`)
    } catch (error) {
      expect((error as GatehouseError).type).toBe('InvalidPattern')
    }
    return processorMs() - started
  })
  expect(Math.min(...took)).toBeLessThan(50)
})

test('refuses what would silently find nothing, and says why', () => {
  expect(() => parseGlob('*.{ts,tsx}')).toThrow(/braces are not supported/)
  expect(() => parseGlob('')).toThrow(GatehouseError)
  expect(() => parseGlob('a'.repeat(257))).toThrow(/more than 256/)
})

test('agrees with a regular expression on short patterns', () => {
  const letters = fc.constantFrom('a', 'b', '*', '?')
  const names = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }).map((x) => x.join(''))
  const patterns = fc.array(letters, { minLength: 1, maxLength: 8 }).map((x) => x.join(''))
  fc.assert(
    fc.property(
      patterns.filter((p) => p !== '**'),
      names,
      (pattern, name) => {
        const regex = new RegExp(`^${pattern.replace(/\*+/g, '.*').replaceAll('?', '.')}$`)
        expect(hits(pattern, name)).toBe(regex.test(name))
      },
    ),
    { numRuns: 2_000 },
  )
})
