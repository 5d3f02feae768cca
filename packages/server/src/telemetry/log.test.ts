import { expect, test } from 'vitest'
import { Scrubber } from '../vault/scrub/scrubber.ts'
import { createLog } from './log.ts'

const createOutput = () => {
  const lines: string[] = []
  return { lines, output: { write: (line: string) => void lines.push(line) } }
}

test('a secret never reaches the log, wherever in a line it stands', () => {
  const { lines, output } = createOutput()
  const scrubber = new Scrubber()
  const log = createLog('info', output, (line) => scrubber.scrub(line))
  log.info({}, 'a "quoted" secret before anybody used it')
  scrubber.know('token', 'a "quoted" secret')
  log.error(
    { err: new Error('no a "quoted" secret'), url: 'https://x/?a%20%22quoted%22+secret' },
    'x',
  )
  expect(lines[0]).toContain('quoted')
  expect(lines[1]).not.toContain('quoted')
  expect(JSON.parse(lines[1] as string)).toMatchObject({
    msg: 'x',
    url: 'https://x/?[secret:token]',
    err: { message: 'no [secret:token]' },
  })
})

test('a token never reaches the log, whatever object it comes in; other facts do', () => {
  const { lines, output } = createOutput()
  createLog('info', output).info(
    { agent: 'alpha', token: 'abc', request: { headers: { authorization: 'Bearer abc' } } },
    'hello',
  )
  const text = lines.join('')
  expect(text).toContain('"agent":"alpha"')
  expect(text).not.toContain('abc')
})
