import { expect, test, vi } from 'vitest'
import { createLog } from './log.ts'

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
