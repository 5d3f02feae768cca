import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { LongestFirst, longest } from './longest-first.mjs'
import { root } from './run.mjs'

const spec = (name, file) => ({
  moduleId: path.join(root, file),
  project: { name, config: { sequence: {} } },
})

test('each file that begins early is there', () => {
  expect(longest.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})

test('files are taken by stage, and the longest of a stage first', async () => {
  const cache = { getFileTestResults: () => undefined, getFileStats: () => ({ size: 1 }) }
  const given = [
    spec('e2e', 'test/time.test.ts'),
    spec('e2e', 'test/a.test.ts'),
    spec('e2e', 'test/mcp-bridge.test.ts'),
    spec('unit', 'packages/server/src/a.test.ts'),
  ]
  const sorted = await new LongestFirst({ config: { root }, cache }).sort(given)
  expect(sorted).toEqual([given[3], given[2], given[0], given[1]])
})
