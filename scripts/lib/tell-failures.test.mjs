import { expect, onTestFinished, test, vi } from 'vitest'
import TellFailures, { failureText } from './tell-failures.mjs'

const error = {
  message: 'expected 1 to be 2',
  stack:
    'AssertionError: expected 1 to be 2\n    at a.test.ts:3:7\n    at node_modules/runner.js:1:2',
  diff: '- 2\n\u001b[32m+ 1\u001b[39m',
}
const whole = `
Failed: test/a.test.ts > group > counts
AssertionError: expected 1 to be 2
    at a.test.ts:3:7
- 2
+ 1
`

test('of a failed test it says which it is, where, and what was expected', () => {
  expect(failureText('test/a.test.ts > group > counts', [error])).toBe(whole)
  expect(failureText('test/a.test.ts', [{ message: 'late' }])).toBe(
    '\nFailed: test/a.test.ts\nlate\n',
  )
})

test('it says so at once, of failed tests and of files that could not be read, and of no other', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => said.mockRestore())
  const reporter = new TellFailures()
  const of = (state, errors) => ({
    module: { relativeModuleId: 'test/a.test.ts' },
    fullName: 'group > counts',
    result: () => ({ state, errors }),
  })
  reporter.onTestCaseResult(of('passed'))
  reporter.onTestCaseResult(of('skipped'))
  reporter.onTestModuleEnd({ relativeModuleId: 'test/a.test.ts', errors: () => [] })
  expect(said).not.toHaveBeenCalled()
  reporter.onTestCaseResult(of('failed', [error]))
  reporter.onTestModuleEnd({ relativeModuleId: 'test/b.test.ts', errors: () => [error] })
  expect(said.mock.calls.flat()).toEqual([whole, expect.stringContaining('test/b.test.ts\nAsse')])
})
