import { expect, test } from 'vitest'
import { findProblems } from './check-lint.mjs'

const long = (filename, name) => ({
  filename,
  severity: 'warning',
  code: 'eslint(max-lines-per-function)',
  message: `The function ${name ? `\`${name}\` ` : ''}has too many lines (80). Maximum allowed is 70.`,
  labels: [{ span: { line: 3, column: 1 } }],
})
const listed = ['a.ts max-lines-per-function open', 'a.ts max-lines-per-function']

test('passes what is listed, and nothing else', () => {
  const found = [long('a.ts', 'open'), long('a.ts')]
  expect(findProblems(found, listed)).toEqual([])
  expect(findProblems([...found, long('b.ts', 'open')], listed)).toEqual([
    expect.stringMatching(/^b\.ts max-lines-per-function open\n {2}b\.ts:3:1: The function/),
  ])
})

test('names a line of the list that is no longer needed', () => {
  expect(findProblems([long('a.ts')], listed)).toEqual([
    'no longer needed: a.ts max-lines-per-function open',
  ])
})

test('fails for an error with its place, and no list makes up for it', () => {
  const error = { ...long('a.ts'), severity: 'error', code: 'eslint(no-eval)', message: 'No.' }
  expect(findProblems([error], ['a.ts no-eval'])).toEqual([
    'a.ts:3:1: No. eslint(no-eval)',
    'no longer needed: a.ts no-eval',
  ])
})
