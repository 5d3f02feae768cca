import { expect, test } from 'vitest'
import { countTests } from './count-tests.mjs'

const file = (status, ...tests) => ({
  name: 'a.test.ts',
  status,
  assertionResults: tests.map((state) => ({ status: state })),
})
const count = (code, ...testResults) => {
  const { passed, failed, skipped } = countTests({ testResults }, code)
  return { passed, failed, skipped }
}

test('counts what passed, failed and was skipped', () => {
  const report = file('failed', 'passed', 'passed', 'failed', 'skipped', 'todo')
  expect(count(1, report)).toEqual({ passed: 2, failed: 1, skipped: 2 })
})

test('counts a file that did not load as one failure', () => {
  const counted = count(1, file('passed', 'passed'), file('failed'))
  expect(counted).toEqual({ passed: 1, failed: 1, skipped: 0 })
})

test('counts an error outside of any test as one failure', () => {
  expect(count(1, file('passed', 'passed'))).toEqual({ passed: 1, failed: 1, skipped: 0 })
  expect(count(0, file('passed', 'passed'))).toEqual({ passed: 1, failed: 0, skipped: 0 })
})
