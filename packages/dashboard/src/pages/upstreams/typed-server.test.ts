import { expect, test } from 'vitest'
import { blankServer, serverOf } from './typed-server.ts'

test('reads a program with what it may use', () => {
  const typed = {
    ...blankServer,
    name: ' files ',
    command: 'npx',
    args: '-y\n\n  server-files ',
    folders: '/srv/docs\nrw /srv/out',
    hosts: 'api.example.org:443',
    environment: 'MODE=quiet=1',
    credentials: 'TOKEN=abc\nKEY=secret:api-key',
  }
  expect(serverOf(typed)).toEqual({
    name: 'files',
    server: { kind: 'stdio', command: 'npx', args: ['-y', 'server-files'] },
    grants: {
      folders: [
        { path: '/srv/docs', read_only: true },
        { path: '/srv/out', read_only: false },
      ],
      hosts: ['api.example.org:443'],
      environment: { MODE: 'quiet=1' },
    },
    credentials: { TOKEN: { value: 'abc' }, KEY: { secret: 'api-key' } },
    per_agent: true,
  })
})

test('names the line that is no pair', () => {
  expect(() => serverOf({ ...blankServer, credentials: 'TOKEN' })).toThrow(
    '“TOKEN” is not NAME=value.',
  )
})
