import { expect, test } from 'vitest'
import { judgeLandlock } from './landlock-probe.ts'

const whole = ['1 2 0 0', 'sees ', 'reaches ', 'no signals', 'writes']
const result = (lines: readonly string[], code = 0) => ({
  code,
  stdout: new TextEncoder().encode(`${lines.join('\n')}\n`),
  stderr: new Uint8Array(),
})

test('finds nothing wrong where everything holds', () => {
  expect(judgeLandlock(result(whole))).toBeNull()
})

test.each([
  ['new privileges', 0, '0 2 0 0', 'rights are left'],
  ['no filter', 0, '1 0 0 0', 'rights are left'],
  ['capabilities', 0, '1 2 8 0', 'rights are left'],
  ['the files of the host', 1, 'sees /', 'files of the host'],
  ['sockets', 2, 'reaches 1', 'sockets'],
  ['signals', 3, 'signals', 'processes of the host'],
  ['no place of its own', 4, 'cannot write: Permission denied', 'its own folder'],
] as const)('names what is wrong with %s', (_, at, line, said) => {
  expect(judgeLandlock(result(whole.with(at, line)))).toContain(said)
})

test('does not take silence or a failure for a sandbox', () => {
  expect(judgeLandlock(result([]))).toContain('rights are left')
  expect(judgeLandlock(result(whole, 9))).toBe('it ended with 9')
})
