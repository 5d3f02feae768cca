import { expect, test } from 'vitest'
import { findShortLimits } from './check-tests.mjs'

test.each([
  ['test/a.test.ts', '}, 900_000)\n'],
  ['test/a.test.ts', '})\n'],
  ['packages/cli/test/a.test.ts', '  timeout: 300_000,\n}, async () => {\n'],
  ['packages/cli/test/a.test.ts', '  timeout: 1_000,\n  stdio: "ignore",\n'],
  ['packages/cli/test/a.test.ts', '  }, 20)\n'],
  ['packages/cli/src/a.test.ts', 'expect(performance.now() - began).toBeLessThan(60_000)\n'],
  ['packages/cli/src/a.test.ts', 'expect(processorMs() - began).toBeLessThan(50)\n'],
])('passes %s with %j', (file, text) => {
  expect(findShortLimits(file, text)).toEqual([])
})

test.each([
  ['test/a.test.ts', 'test(() => {\n}, 60_000)\n', 'test/a.test.ts:2 60_000 ms'],
  [
    'packages/a/src/a.test.ts',
    '  timeout: 20_000,\n}, () => {\n',
    'packages/a/src/a.test.ts:1 20_000 ms',
  ],
  [
    'test/a.test.ts',
    'expect(performance.now() - began).toBeLessThan(1_000)\n',
    'test/a.test.ts:1 1_000 ms',
  ],
  [
    'test/a.test.ts',
    '  expect(Date.now() - began).toBeLessThanOrEqual(999)\n',
    'test/a.test.ts:1 999 ms',
  ],
])('refuses %s with %j', (file, text, place) => {
  expect(findShortLimits(file, text)).toEqual([expect.stringMatching(new RegExp(`^${place}: `))])
})
