import { expect, test } from 'vitest'
import { callTextMax, describeCall, describeEntry } from './describe-call.ts'

test.each([
  ['filesystem.write', { path: 'notes/a.md', content: 'secret plans' }, 'notes/a.md'],
  ['filesystem.copy', { source: 'a', destination: 'b/c' }, 'a → b/c'],
  ['filesystem.search', { path: 'src', pattern: '*.ts' }, 'src "*.ts"'],
  ['filesystem.edit', { root: 'src', include_glob: '*.ts', pattern: 'x' }, 'src/*.ts "x"'],
  ['filesystem.restore', { trash_id: 'trash-1' }, 'trash-1'],
  ['process.run', { command: 'git', args: ['commit', '-m', "it's"] }, "git commit -m 'it'\\''s'"],
  ['process.kill', { process_id: 'proc-1', signal: 'SIGKILL' }, 'proc-1'],
  ['git.push', { path: '.', remote: 'origin', branch: 'main', secret: 's' }, '. origin main'],
  ['git.commit', { path: '.', message: 'x', files: ['a', 'b'] }, '. a, b'],
  ['git.clone', { url: 'https://example.org/a.git', path: 'a' }, 'https://example.org/a.git → a'],
  [
    'network.http_request',
    { method: 'POST', url: 'https://a.example/x' },
    'POST https://a.example/x',
  ],
  ['network.port_check', { host: 'a.example', port: 443 }, 'a.example:443'],
  [
    'email.send',
    { to: ['ana@a.example', 'b@b.example'], bcc: ['c@c.example'], subject: 'Private' },
    'to ana@a.example, b@b.example; bcc c@c.example',
  ],
  ['email.move', { message_ids: ['m1', 'm2'], folder: 'Archive' }, 'm1, m2 → Archive'],
  ['comms.send', { to: 'coder', message: 'hi' }, 'to coder'],
  ['comms.broadcast', { filter: { channel: 'builds' }, message: 'hi' }, 'channel builds'],
  ['shared.set', { key: 'build/status', value: 1 }, 'build/status'],
  [
    'scheduler.create',
    { capability: 'filesystem.read', arguments: { path: 'a' }, schedule: '0 9 * * *' },
    'filesystem.read a',
  ],
  ['state.deleted', { area: 'shared', key: 'k' }, 'shared k'],
  ['write.buffered', { write_id: 'wr-1', service: 'mail', operation: 'send' }, 'send mail'],
  [
    'write.executed',
    {
      write_id: 'wr-1',
      service: 'mail',
      operation: 'send',
      to: ['a@a.example'],
      cc: ['b@b.example'],
    },
    'send mail to a@a.example; cc b@b.example',
  ],
  ['audit.acknowledged', { reason: 'a disk lost data', log: 'node-b' }, 'node-b'],
  [
    'process.ended',
    { process_id: 'proc-1', command: 'ls', args: ['-l'], state: 'killed' },
    'ls -l',
  ],
  ['system.time', {}, ''],
  [
    'approval.approved',
    { approval_id: 'appr-1', capability: 'filesystem.delete', object: 'a' },
    'filesystem.delete a',
  ],
  ['grant.created', { grant_id: 'grant-1', capability: 'system.time', object: '' }, 'system.time'],
] as const)('%s %j is about %j', (capability, fields, object) => {
  expect(describeCall(capability, fields)).toBe(object)
})

test.each([
  ['network.http_request', { url: 'https://ana:hunter2@a.example/x?token=hunter2' }],
  ['process.run', { command: 'curl', args: ['-H', 'Authorization: Bearer hunter2'] }],
  ['process.run', { command: 'deploy', args: ['--token', 'hunter2'] }],
  ['process.run', { command: 'deploy', args: ['--api-key=hunter2', 'DB_PASSWORD=hunter2'] }],
  ['process.run', { command: 'psql', args: ['postgres://ana:hunter2@db/x'] }],
  ['filesystem.write', { path: 'hmac-sha256:hunter2' }],
])('shows no credential of %s %j', (capability, fields) => {
  expect(describeCall(capability, fields)).not.toContain('hunter2')
})

test('shows what stands for a value that the log cut', () => {
  expect(describeCall('x.y', { path: { $cut: 'long', sha256: '', size_bytes: 9 } })).toBe('long…')
})

test('is one line of bounded length without anything that a terminal obeys', () => {
  const text = describeCall('filesystem.read', { path: `a\n\u001b[2J\u202e${'x'.repeat(999)}` })
  expect(text).toHaveLength(callTextMax)
  expect(text).toContain('a\\u{a}\\u{1b}[2J\\u{202e}xxx')
})

test.each([
  [{ capability: 'process.kill', arguments: { process_id: 'proc-1' }, detail: null }, 'proc-1'],
  [
    {
      capability: 'process.kill',
      arguments: { process_id: 'proc-1' },
      detail: { object: 'ls -l' },
    },
    'ls -l',
  ],
  [
    {
      capability: 'approval.edited',
      arguments: { to: ['new@a.example'], subject: 'x' },
      detail: { capability: 'email.send', object: 'to new@a.example' },
    },
    'email.send to new@a.example',
  ],
  [
    { capability: 'alert.raised', arguments: { alert_id: 'a-1' }, detail: { message: 'Full' } },
    'Full',
  ],
  [
    { capability: 'filesystem.read', arguments: { path: 'a' }, detail: { sandbox: 'landlock' } },
    'a',
  ],
] as const)('an entry %j is about %j', (entry, object) => {
  expect(describeEntry(entry)).toBe(object)
})
