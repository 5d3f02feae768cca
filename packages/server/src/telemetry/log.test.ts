import { expect, test, vi } from 'vitest'
import { Scrubber } from '../vault/scrub/scrubber.ts'
import { createLog } from './log.ts'

test('a secret never reaches the log, wherever in a line it stands', () => {
  const lines: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    lines.push(String(line))
    return true
  })
  const scrubber = new Scrubber()
  const log = createLog('info', (line) => scrubber.scrub(line))
  log.info({}, 'a "quoted" secret before anybody used it')
  scrubber.know('token', 'a "quoted" secret')
  log.error(
    { err: new Error('no a "quoted" secret'), url: 'https://x/?a%20%22quoted%22+secret' },
    'x',
  )
  write.mockRestore()
  expect(lines[0]).toContain('quoted')
  expect(lines[1]).not.toContain('quoted')
  expect(JSON.parse(lines[1] as string)).toMatchObject({
    msg: 'x',
    url: 'https://x/?[secret:token]',
    err: { message: 'no [secret:token]' },
  })
})

test('a token never reaches the log, whatever object it comes in; other facts do', () => {
  const lines: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    lines.push(String(line))
    return true
  })
  createLog('info').info(
    { agent: 'alpha', token: 'abc', request: { headers: { authorization: 'Bearer abc' } } },
    'hello',
  )
  write.mockRestore()
  const text = lines.join('')
  expect(text).toContain('"agent":"alpha"')
  expect(text).not.toContain('abc')
})
