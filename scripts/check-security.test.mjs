import { expect, test } from 'vitest'
import { findGaps } from './check-security.mjs'

const tests = new Map([
  ['packages/server/src/a.test.ts', "test('refuses a link (F04)', () => {})"],
  ['test/crash.test.ts', ''],
  ['packages/cli/src/list.test.ts', ''],
  ['packages/server/src/list.test.ts', ''],
])
const gapsIn = (text) => findGaps('a.ts', text, tests)

test.each([
  '// @SECURITY Never through a link; a.test.ts.',
  '/** @SECURITY Never through a link (server/src/a.test.ts, F04). */',
  '/**\n * Opens it.\n * @SECURITY On disk before the answer;\n * test/crash.test.ts.\n */',
  '// @SECURITY On disk before\n  // the answer; crash.test.ts.',
  '# @SECURITY On disk before\n# the answer; crash.test.ts.',
  'call(1) // @SECURITY Never twice; a.test.ts.',
  '// A comment without the tag names nothing.',
])('passes %j', (text) => {
  expect(gapsIn(text)).toEqual([])
})

test.each([
  ['open()\n// @SECURITY Never through a link.', 'a.ts:2 names no test'],
  ['/**\n * Opens it.\n * @SECURITY No link.\n */', 'a.ts:3 names no test'],
  ['open();\n# @SECURITY Never through\n# a link.', 'a.ts:2 names no test'],
  ['// @SECURITY No link; b.test.ts.', 'a.ts:1 names b.test.ts, which is no test here'],
  ['// @SECURITY No link; sha.test.ts.', 'a.ts:1 names sha.test.ts, which is no test here'],
  [
    '// @SECURITY No link; F05 in a.test.ts.',
    'a.ts:1 names F05, which stands in none of its tests',
  ],
])('refuses %j', (text, gap) => {
  expect(gapsIn(text)).toEqual([gap])
})

test('a name stands for one test: the one beside the file, or the only one', () => {
  const gaps = (file, name) => findGaps(file, `// @SECURITY No link; ${name}.`, tests)
  expect(gaps('packages/cli/src/list.ts', 'list.test.ts')).toEqual([])
  expect(gaps('packages/client/src/list.ts', 'cli/src/list.test.ts')).toEqual([])
  expect(gaps('packages/client/src/list.ts', 'list.test.ts')).toEqual([
    'packages/client/src/list.ts:1 names list.test.ts, which may be packages/cli/src/list.test.ts or packages/server/src/list.test.ts',
  ])
})

test('a comment does not borrow the test of the next one', () => {
  const text = '// @SECURITY No link.\nopen()\n// @SECURITY No device; a.test.ts.\n'
  expect(gapsIn(text)).toEqual(['a.ts:1 names no test'])
})

test('a comment at the end of a line is not one with the comment above it', () => {
  const text = '// See a.test.ts.\nopen() // @SECURITY No link.\n'
  expect(gapsIn(text)).toEqual(['a.ts:2 names no test'])
})
