import { fakeAlert, fakeApproval } from '@gatehouse/testkit/fake-app'
import { fakeDeadLetter, fakeRollback, fakeWrite } from '@gatehouse/testkit/fake-service/fake-proxy'
import { expect, test } from 'vitest'
import { createCliKit, type Terminal } from './kit.ts'

const id = fakeApproval(1).id

/** Output that people and programs see, word for word. A changed file here is a change they notice. */
type Golden = readonly [name: string, line: readonly string[], terminal?: Terminal]
const lines: readonly Golden[] = [
  ['help', ['--help']],
  ['help-agent', ['agent', '--help']],
  ['help-agent-create', ['agent', 'create', '--help']],
  ['status', ['status']],
  ['status-json', ['status', '--json']],
  ['agent-list', ['agent', 'list']],
  ['agent-list-json', ['agent', 'list', '--json']],
  ['agent-show', ['agent', 'show', 'mailbot']],
  ['agent-create', ['agent', 'create', 'newbot', '--purpose', 'Sorts files']],
  ['agent-create-json', ['agent', 'create', 'newbot', '--json']],
  ['agent-edit', ['agent', 'edit', 'mailbot', '--tools', 'filesystem.*, github.list_*']],
  ['agent-edit-nothing', ['agent', 'edit', 'mailbot']],
  ['agent-pause', ['agent', 'pause', 'mailbot']],
  ['agent-rotate', ['agent', 'rotate', 'mailbot', '--yes']],
  ['approvals-list', ['approvals', 'list'], { columns: 100 }],
  ['approvals-show', ['approvals', 'show', id]],
  ['approvals-approve', ['approvals', 'approve', id]],
  ['approvals-approve-json', ['approvals', 'approve', id, '--json']],
  ['audit-query', ['audit', 'query']],
  ['audit-verify', ['audit', 'verify']],
  ['policy-show', ['policy', 'show']],
  ['policy-check', ['policy', 'check']],
  ['policy-validate', ['policy', 'validate', '-'], { input: 'version: 1\n' }],
  ['policy-set-dry-run', ['policy', 'set', '-', '--dry-run'], { input: 'version: 1\n' }],
  ['policy-test', ['policy', 'test', 'mailbot', 'email.send']],
  ['policy-set', ['policy', 'set', '-', '--agent', 'mailbot'], { input: 'version: 1\n' }],
  [
    'policy-set-elsewhere',
    ['policy', 'set', '-', '--data-dir', '/srv/my data'],
    { input: 'version: 1\n' },
  ],
  ['policy-set-wrong', ['policy', 'set', '-'], { input: 'version: 2\n' }],
  ['processes-list', ['processes', 'list'], { columns: 140 }],
  ['processes-show', ['processes', 'show', 'proc-00000000000000000000000001']],
  ['processes-logs', ['processes', 'logs', 'proc-00000000000000000000000001', '--offset', '20']],
  ['processes-kill', ['processes', 'kill', 'proc-00000000000000000000000001', '--yes']],
  ['proxy-status', ['proxy', 'status'], { columns: 120 }],
  ['proxy-writes', ['proxy', 'writes'], { columns: 160 }],
  ['proxy-cancel', ['proxy', 'cancel', fakeWrite.id]],
  ['proxy-cancel-late', ['proxy', 'cancel', fakeDeadLetter.id]],
  ['proxy-retry', ['proxy', 'retry', fakeDeadLetter.id, '--yes']],
  ['proxy-discard', ['proxy', 'discard', fakeDeadLetter.id, '--yes']],
  ['proxy-rollbacks', ['proxy', 'rollbacks'], { columns: 160 }],
  ['proxy-rollback-dry-run', ['proxy', 'rollback', fakeRollback.id, '--dry-run']],
  ['proxy-rollback', ['proxy', 'rollback', fakeRollback.id, '--yes']],
  ['proxy-disconnect', ['proxy', 'disconnect', 'mail', '--yes']],
  ['schedules-list', ['schedules', 'list'], { columns: 140 }],
  ['state-list', ['state', 'list', 'shared']],
  ['state-get', ['state', 'get', 'mailbot', 'notes/a']],
  ['state-set', ['state', 'set', 'mailbot', 'notes/a', '{"open": false}']],
  ['state-set-wrong', ['state', 'set', 'mailbot', 'notes/a', 'open']],
  ['state-delete', ['state', 'delete', 'mailbot', 'notes/a', '--yes']],
  ['alerts-list', ['alerts', 'list']],
  ['models-list', ['models', 'list'], { columns: 140 }],
  ['models-show', ['models', 'show', 'tiny']],
  ['models-install', ['models', 'install', 'tiny']],
  ['models-cancel', ['models', 'cancel', 'tiny']],
  ['models-verify', ['models', 'verify', 'tiny']],
  ['models-remove', ['models', 'remove', 'tiny', '--yes']],
  ['models-default', ['models', 'default']],
  ['models-default-none', ['models', 'default', '--none']],
  ['models-catalog', ['models', 'catalog']],
  ['models-setup', ['models', 'setup']],
  ['models-try', ['models', 'try', 'tiny', 'Hello']],
  ['models-engine', ['models', 'engine']],
  ['models-stop', ['models', 'stop']],
  ['models-release', ['models', 'release', 'tiny']],
  ['models-not-found', ['models', 'show', 'nothing']],
  ['alerts-ack', ['alerts', 'ack', fakeAlert.id]],
  ['pause-all', ['pause', '--all']],
  ['pause-nobody', ['pause']],
  ['resume-all', ['resume', '--all']],
  ['user-token-create-json', ['user-token', 'create', '--label', 'phone', '--json']],
  ['user-token-list', ['user-token', 'list']],
  ['vault-status', ['vault', 'status']],
  ['vault-list', ['vault', 'list'], { columns: 140 }],
  ['vault-show', ['vault', 'show', 'github_token']],
  ['vault-check', ['vault', 'check', 'github_token', '--agent=coder', '--capability=git.push']],
  ['error-not-found', ['agent', 'show', 'mailbto']],
  ['error-json', ['agent', 'show', 'nobody', '--json']],
  ['error-usage', ['agnet', 'list']],
  ['error-option', ['approvals', 'list', '--limt', '3']],
]

const cases = lines.map(([name, line, terminal = {}]) => [name, line, terminal] as const)

test.each(cases)('prints %s as it is written down', async (name, line, terminal) => {
  const kit = createCliKit()
  kit.fake.tell(fakeApproval(1))
  const { code, out, err } = await kit.gatehouse(line, terminal)
  const parts = [`$ gatehouse ${line.join(' ')}`, out, err === '' ? '' : `[stderr]\n${err}`]
  const text = `${parts.filter((part) => part !== '').join('\n')}[exit ${code}]\n`
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`)
})
