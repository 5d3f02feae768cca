import { expect, test } from 'vitest'
import { judgeProbe } from './probe.ts'

const result = (stdout: string, code = 0, stderr = '') => ({
  code,
  stdout: new TextEncoder().encode(stdout),
  stderr: new TextEncoder().encode(stderr),
})
const whole = ['1 2 0 0', '2', 'lo', 'read-only']

test('finds nothing wrong where everything holds', () => {
  expect(judgeProbe(result(`${whole.join('\n')}\n`))).toBeNull()
})

test.each([
  ['new privileges', 0, '0 2 0 0', 'rights are left'],
  ['no filter', 0, '1 0 0 0', 'rights are left'],
  ['capabilities', 0, '1 2 8 0', 'rights are left'],
  ['capabilities to gain', 0, '1 2 0 1', 'rights are left'],
  ['the processes of the host', 1, '121', 'processes of the host'],
  ['a network', 2, 'eth0 lo', 'interfaces of the host'],
  ['a root to write in', 3, 'writable', 'its root can be written'],
] as const)('names what is wrong with %s', (_, at, line, said) => {
  expect(judgeProbe(result(whole.with(at, line).join('\n')))).toContain(said)
})

test('does not take a program that failed, or said nothing, for a sandbox', () => {
  expect(judgeProbe(result(whole.join('\n'), 1, 'no perl\n'))).toBe('no perl')
  expect(judgeProbe(result(whole.join('\n'), 1))).toBe('it ended with 1')
  expect(judgeProbe(result(''))).toContain('rights are left')
})
