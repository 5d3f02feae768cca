import { expect, test } from 'vitest'
import { ToolNames } from './tool-names.ts'

const known = ['files.read', 'files.write_all', 'approvals.wait']
const names = new ToolNames(() => known)

test.each([
  ['Wait with approvals.wait.', 'Wait with approvals__wait.'],
  [
    'use files.read, files.write_all or (files.*)',
    'use files__read, files__write_all or (files__*)',
  ],
  ['`files.read`: "files.read"', '`files__read`: "files__read"'],
  // Texts that only look like a name stay: a path, an address, a host, a name that nothing has.
  ['There is no file at /x/files.read', 'There is no file at /x/files.read'],
  [
    'files.read/more, files.read.txt, my-files.read',
    'files.read/more, files.read.txt, my-files.read',
  ],
  [
    'me@files.read and files.reader and other.read',
    'me@files.read and files.reader and other.read',
  ],
])('%s', (text, said) => {
  expect(names.text(text)).toBe(said)
})

test('a name that the call itself gave may be that of a file, and stays', () => {
  const error = {
    type: 'FileNotFound',
    message: 'There is no file at files.read.',
    recovery: [{ action: 'files.read', description: 'Read another with files.read.' }],
  }
  expect(names.error(error, { path: 'files.read' })).toEqual({
    type: 'FileNotFound',
    message: 'There is no file at files.read.',
    recovery: [{ action: 'files__read', description: 'Read another with files.read.' }],
  })
  expect(names.error(error, { path: 'x' }).message).toBe('There is no file at files__read.')
})

test('data keeps what agents wrote, and names tools where the service tells of calls', () => {
  const data = {
    result: { success: false, error: { type: 'X', message: 'see files.read', recovery: [] } },
    edited: { arguments: { message: 'see files.read' }, note: 'see files.read' },
    capability: 'files.read',
  }
  expect(names.data('approvals', data)).toEqual({
    result: { success: false, error: { type: 'X', message: 'see files__read', recovery: [] } },
    edited: { arguments: { message: 'see files.read' }, note: 'see files__read' },
    capability: 'files.read',
  })
  expect(names.data('files', data)).toBe(data)
})
