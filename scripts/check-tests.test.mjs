import { expect, test } from 'vitest'
import { findClasses, findShortLimits } from './check-tests.mjs'

test.each([
  ['test/a.test.ts', '}, 900_000)\n'],
  ['test/a.test.ts', '})\n'],
  ['test/a.test.ts', '  },\n  full ? 900_000 : undefined,\n)\n'],
  ['test/a.test.ts', '  timeout: 400_000 + kills * 8_000,\n}, async () => {\n'],
  ['test/a.test.ts', '  held({}),\n  10_000,\n)\n'],
  ['test/a.test.ts', 'await page.waitFor()\n'],
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
  ['test/a.test.ts', '  },\n  60_000,\n)\n', 'test/a.test.ts:2 60_000 ms'],
  ['test/a.test.ts', '  },\n  // Why.\n  60_000,\n)\n', 'test/a.test.ts:3 60_000 ms'],
  ['test/a.test.ts', '  },\n  full ? 900_000 : 180_000,\n)\n', 'test/a.test.ts:2 180_000 ms'],
  [
    'test/a.test.ts',
    "test('a', { timeout: 60_000 }, async () => {\n",
    'test/a.test.ts:1 60_000 ms',
  ],
  [
    'test/a.test.ts',
    '  timeout: full ? 900_000 : 60_000,\n  },\n  () => {\n',
    'test/a.test.ts:1 60_000 ms',
  ],
  [
    'test/a.test.ts',
    '    timeout: 60_000 + kills * 15_000,\n  },\n  async () => {\n',
    'test/a.test.ts:1 60_000 ms',
  ],
  ['test/a.test.ts', '\n  await vi.waitFor(() => {})\n', 'test/a.test.ts:2 vi.wait'],
  ['test/a.test.ts', 'await vi.waitUntil(() => done)\n', 'test/a.test.ts:1 vi.wait'],
  [
    'test/a.test.ts',
    '\nfor (let tries = 0; tries < 9 && !isSo(); tries += 1)\n  await pause(5)\n',
    'test/a.test.ts:2 counted looks',
  ],
  [
    'test/a.test.ts',
    'for (let tries = 0; tries < 9; tries += 1) {\n  if (await isSo()) return\n  await new Promise((done) => setTimeout(done, 1))\n}\n',
    'test/a.test.ts:1 counted looks',
  ],
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

test.each([
  "page.locator('#content .animate-pulse').count()\n",
  'page.locator(".card")\n',
  'page.locator(`article.card[data-id="${id}"]`)\n',
])('refuses a class in %s', (text) => {
  expect(findClasses('test/a.test.ts', text)).toEqual([
    expect.stringMatching(/^test\/a\.test\.ts:1 a class: /),
  ])
})

test.each([
  "page.locator('.cm-line .cm-lintRange-error')\n",
  "page.locator('#content h1')\n",
  'page.locator(`a[href="/audit/${entry.id}"]`).first()\n',
  "page.locator('dl > div', { has: page.getByText('a.b') })\n",
])('passes %s', (text) => {
  expect(findClasses('test/a.test.ts', text)).toEqual([])
})
