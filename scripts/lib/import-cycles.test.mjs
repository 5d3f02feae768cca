import { expect, test } from 'vitest'
import { findImportCycles } from './import-cycles.mjs'

const cyclesIn = (files) =>
  findImportCycles(Object.entries(files).map(([file, text]) => ({ file, text })))

test('finds a circle, also one of types alone, and tells it once', () => {
  const files = {
    'p/a.ts': "import type { B } from './b.ts'",
    'p/b.ts': "export { type C } from './in/c.ts'",
    'p/in/c.ts': "import { type A } from '../a.ts'\nimport { d } from '../d.ts'",
    'p/d.ts': "import { readFileSync } from 'node:fs'",
  }
  expect(cyclesIn(files)).toEqual(['p/a.ts imports itself by way of p/b.ts, p/in/c.ts'])
})

test('tells circles that share no file apart', () => {
  const files = {
    'a.ts': "import './b.ts'",
    'b.ts': "import './a.ts'",
    'c.ts': "import './c.ts'",
  }
  expect(cyclesIn(files)).toEqual([
    'a.ts imports itself by way of b.ts',
    'c.ts imports itself by way of nothing else',
  ])
})

test('follows names of packages, and neither comments nor what is imported later', () => {
  const one = 'packages/one/src/index.ts'
  const two = 'packages/two/src/deep/x.ts'
  expect(
    cyclesIn({
      [one]: "import { x } from '@gatehouse/two/deep/x'",
      [two]: "import type { y } from '@gatehouse/one'",
    }),
  ).toHaveLength(1)
  expect(
    cyclesIn({
      [one]: "const { x } = await import('@gatehouse/two/deep/x')",
      [two]: "// import './no.ts'\nimport type { y } from '@gatehouse/one'",
    }),
  ).toEqual([])
})
