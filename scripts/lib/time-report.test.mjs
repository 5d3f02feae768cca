import { expect, test } from 'vitest'
import { timeReport } from './time-report.mjs'

test('says how long each stage took, and its files, the longest first', () => {
  const file = (name, startTime, endTime) => ({ name: `/project/${name}`, startTime, endTime })
  const testResults = [
    file('packages/server/src/a.test.ts', 0, 2_000),
    file('scripts/b.test.mjs', 1_000, 4_000),
    file('packages/cli/test/c.test.ts', 4_000, 9_000),
    file('test/d.test.ts', 9_000, 10_000),
  ]
  expect(timeReport({ testResults }, '/project')).toEqual([
    'Time by stage: unit 4 s, integration 5 s, e2e 1 s. Longest files:',
    '  5 s packages/cli/test/c.test.ts',
    '  3 s scripts/b.test.mjs',
    '  2 s packages/server/src/a.test.ts',
    '  1 s test/d.test.ts',
  ])
})
