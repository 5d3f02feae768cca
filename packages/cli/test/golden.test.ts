import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { type CliKit, createCliKit, type Terminal } from './kit.ts'

const deadRules = `version: 1
rules:
  - match: "git.*"
    tier: approval_required
  - match: git.push
    tier: autonomous
`
const policy = 'version: 1\nrules:\n  - { match: git.push, tier: blocked }\n'

/** Output that people and programs see, word for word. A changed file here is a change they notice. */
type Golden = readonly [
  name: string,
  line: readonly string[],
  given?: Terminal & { readonly before?: (kit: CliKit) => Promise<unknown> },
]
const after =
  (line: readonly string[], input = '') =>
  (kit: CliKit) =>
    kit.gatehouse(line, { input })

const pass = async (kit: CliKit, ms: number) => (await kit.open()).kit.clock.move(ms)

/** Healthy, and a minute later. */
const whenHealthy = async (kit: CliKit) => {
  await kit.gatehouse(['upstream', 'accept', seeded.waitingUpstream, '--yes'])
  await pass(kit, 61_000)
}

/** One model answers, and one has crashed until it was given up. */
const whenEngineHasCrashed = async (kit: CliKit) => {
  for (let times = 0; times < 3; times += 1) {
    await kit.gatehouse(['models', 'start', 'odd'])
    await pass(kit, 600_000)
  }
  await kit.gatehouse(['models', 'try', 'tiny', 'Hello'])
}

const lines: readonly Golden[] = [
  ['help', ['--help']],
  ['help-agent', ['agent', '--help']],
  ['help-agent-create', ['agent', 'create', '--help']],
  ['status', ['status'], { before: whenHealthy }],
  ['status-json', ['status', '--json']],
  ['agent-list', ['agent', 'list']],
  ['agent-list-json', ['agent', 'list', '--json']],
  ['agent-show', ['agent', 'show', 'mailbot']],
  ['agent-create', ['agent', 'create', 'newbot', '--purpose', 'Sorts files']],
  ['agent-create-json', ['agent', 'create', 'newbot', '--json']],
  ['agent-edit', ['agent', 'edit', 'mailbot', '--tools', 'filesystem.*, github.list_*']],
  [
    'agent-edit-limits',
    ['agent', 'edit', 'mailbot', '--limits', 'email.send=5/1m, filesystem.*=100/1h'],
  ],
  ['agent-edit-limits-wrong', ['agent', 'edit', 'mailbot', '--limits', '5/1m']],
  ['agent-edit-nothing', ['agent', 'edit', 'mailbot']],
  ['agent-pause', ['agent', 'pause', 'mailbot']],
  ['agent-rotate', ['agent', 'rotate', 'mailbot', '--yes']],
  ['approvals-list', ['approvals', 'list'], { columns: 100 }],
  ['approvals-show', ['approvals', 'show', seeded.approval]],
  ['approvals-approve', ['approvals', 'approve', seeded.approval]],
  ['approvals-approve-json', ['approvals', 'approve', seeded.approval, '--json']],
  ['audit-query', ['audit', 'query', '--limit', '12']],
  ['figures', ['figures'], { before: (kit) => pass(kit, 1_000) }],
  ['audit-verify', ['audit', 'verify']],
  ['policy-show', ['policy', 'show']],
  [
    'policy-show-marked',
    ['policy', 'show', '--agent', 'mailbot'],
    { before: after(['policy', 'set', '-', '--agent', 'mailbot'], deadRules) },
  ],
  ['policy-check', ['policy', 'check']],
  ['policy-validate', ['policy', 'validate', '-'], { input: policy }],
  ['policy-set-dry-run', ['policy', 'set', '-', '--dry-run'], { input: policy }],
  ['policy-test', ['policy', 'test', 'mailbot', 'email.send']],
  ['policy-simulate', ['policy', 'simulate', 'email.*']],
  ['policy-simulate-draft', ['policy', 'simulate', '--draft', '-', '--changes'], { input: policy }],
  ['policy-replay', ['policy', 'replay', '-'], { input: policy }],
  ['policy-use-dry-run', ['policy', 'use', 'trusted', '--dry-run']],
  ['policy-use', ['policy', 'use', 'read-only', '--agent', 'mailbot']],
  ['policy-use-wrong', ['policy', 'use', 'carefull']],
  [
    'policy-set',
    ['policy', 'set', '-', '--agent', 'mailbot'],
    {
      input: policy,
      before: after(['policy', 'set', '-', '--agent', 'mailbot'], `${policy}# Once.\n`),
    },
  ],
  ['policy-set-elsewhere', ['policy', 'set', '-', '--data-dir', '/srv/my data'], { input: policy }],
  ['policy-set-wrong', ['policy', 'set', '-'], { input: 'version: 2\n' }],
  ['processes-list', ['processes', 'list'], { columns: 140 }],
  ['processes-show', ['processes', 'show', seeded.process]],
  ['processes-logs', ['processes', 'logs', seeded.process, '--offset', '4']],
  ['processes-kill', ['processes', 'kill', seeded.process, '--yes']],
  ['proxy-status', ['proxy', 'status'], { columns: 120 }],
  ['proxy-writes', ['proxy', 'writes'], { columns: 160 }],
  ['proxy-cancel', ['proxy', 'cancel', seeded.write]],
  ['proxy-cancel-late', ['proxy', 'cancel', seeded.deadLetter]],
  ['proxy-retry', ['proxy', 'retry', seeded.deadLetter, '--yes']],
  ['proxy-discard', ['proxy', 'discard', seeded.deadLetter, '--yes']],
  ['proxy-rollbacks', ['proxy', 'rollbacks'], { columns: 160 }],
  ['proxy-rollback-dry-run', ['proxy', 'rollback', seeded.rollback, '--dry-run']],
  ['proxy-rollback', ['proxy', 'rollback', seeded.rollback, '--yes']],
  ['proxy-disconnect', ['proxy', 'disconnect', 'mail', '--yes']],
  ['schedules-list', ['schedules', 'list'], { columns: 140 }],
  ['upstream-questions-none', ['upstream', 'questions']],
  ['state-list', ['state', 'list', 'shared']],
  ['state-get', ['state', 'get', 'mailbot', 'notes/a']],
  ['state-set', ['state', 'set', 'mailbot', 'notes/a', '{"open": false}']],
  ['state-set-wrong', ['state', 'set', 'mailbot', 'notes/a', 'open']],
  ['state-delete', ['state', 'delete', 'mailbot', 'notes/a', '--yes']],
  ['alerts-list', ['alerts', 'list']],
  ['models-list', ['models', 'list'], { columns: 140 }],
  ['models-show', ['models', 'show', 'tiny']],
  ['models-install', ['models', 'install', 'tiny']],
  ['models-cancel', ['models', 'cancel', 'slow']],
  ['models-verify', ['models', 'verify', 'tiny']],
  ['models-remove', ['models', 'remove', 'tiny', '--yes']],
  ['models-default', ['models', 'default']],
  ['models-default-none', ['models', 'default', '--none']],
  ['models-catalog', ['models', 'catalog']],
  ['models-setup', ['models', 'setup']],
  ['models-try', ['models', 'try', 'tiny', 'Hello']],
  ['models-engine', ['models', 'engine'], { before: whenEngineHasCrashed }],
  ['models-stop', ['models', 'stop']],
  ['models-release', ['models', 'release', 'tiny']],
  ['models-not-found', ['models', 'show', 'nothing']],
  ['alerts-ack', ['alerts', 'ack', seeded.alert]],
  ['alerts-route', ['alerts', 'route', 'disk', '--nowhere']],
  ['pause-all', ['pause', '--all']],
  ['pause-nobody', ['pause']],
  ['resume-all', ['resume', '--all'], { before: after(['pause', '--all']) }],
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

/** What is another in each run, or changes with each capability that is added. */
const steady = (text: string): string =>
  text
    .replaceAll(/\/\S*\/gatehouse-workspaces-\w+/g, '/data/workspaces')
    .replaceAll(/^(\w+\.\w+ .*? \d+ +\d+)[ \d]{8}[ \d]{8}$/gm, '$1       …       …')
    .replaceAll(/^(\d{4}-\S+ \S+Z(?: +\d+){5}) +\d+ +\d+/gm, '$1 … …')
    .replace(/\d+ offered, about \d+/, '… offered, about …')
    .replaceAll(/system\.yaml:\d+ +/g, 'system.yaml:…  ')
    .replace(/(# system\.yaml .*\n)[^]*(?=# organisation)/, '$1…\n\n')
    .replace(/(tokens in )[\d.]+( s)/, '$1…$2')
    .replace(/[\d.]+( tokens\/s)/, '…$1')
    .replace(/(active: sha256:)\w+/i, '$1…')

const cases = lines.map(([name, line, given = {}]) => [name, line, given] as const)

test.each(cases)('prints %s as it is written down', async (name, line, given) => {
  const { before, ...terminal } = given
  const kit = createCliKit()
  await before?.(kit)
  const { code, out, err } = await kit.gatehouse(line, terminal)
  const parts = [`$ gatehouse ${line.join(' ')}`, out, err === '' ? '' : `[stderr]\n${err}`]
  const text = `${parts.filter((part) => part !== '').join('\n')}[exit ${code}]\n`
  await expect(steady(text)).toMatchFileSnapshot(`golden/${name}.txt`)
})
