import { Approval } from '@gatehouse/contract'
import { describe, expect, test } from 'vitest'
import { type ProposedRule, proposeRule, withRule } from './propose-rule.ts'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const dayMs = 86_400_000
let made = 0

const request = (
  capability: string,
  args: Readonly<Record<string, unknown>>,
  over: Partial<Approval> = {},
): Approval =>
  Approval.parse({
    id: `appr-${String((made += 1)).padStart(26, '0')}`,
    agent: 'builder',
    capability,
    arguments: args,
    effective_arguments: args,
    digest: 'sha256:00',
    requested_at: new Date(now - dayMs).toISOString(),
    expires_at: new Date(now).toISOString(),
    status: 'pending',
    stale: null,
    session_id: null,
    reason: null,
    agent_reason: null,
    rule: null,
    critical: false,
    preview: null,
    consequences: null,
    decided_at: null,
    decided_by: null,
    decision_reason: null,
    execution: { state: 'waiting' },
    ...over,
  })

const agreed = { status: 'approved', decided_at: new Date(now - dayMs).toISOString() } as const
const tests = { command: 'npm', args: ['test'], environment: {} }
const approved = (count: number, capability: string, args: object, over: Partial<Approval> = {}) =>
  Array.from({ length: count }, () => request(capability, { ...args }, { ...agreed, ...over }))
const writing = (path: string) => ({ path, content: `text of ${path}` })

describe('a rule is proposed', () => {
  test('after three approvals of the same call, for that call alone', () => {
    const [first, ...others] = approved(3, 'process.run', tests)
    const rule = first && proposeRule(first, [first, ...others], now)
    expect(rule).toEqual({
      agent: 'builder',
      capability: 'process.run',
      when: 'args == {"command":"npm","args":["test"],"environment":{}}',
      folder: null,
      what: 'npm test',
      approvals: 3,
      args: tests,
    })
    expect(proposeRule(request('process.run', tests), others, now)).toBeNull()
  })

  test('for a folder, where calls differ in their path and that is all that counts', () => {
    const decided = ['reports/a/1.md', 'reports/a/2.md', 'reports/3.md'].flatMap((path) =>
      approved(1, 'filesystem.write', writing(path)),
    )
    const asked = request('filesystem.write', writing('reports/b/4.md'))
    expect(proposeRule(asked, decided, now)).toMatchObject({
      when: 'args.path.startsWith("reports/")',
      folder: 'reports/',
      approvals: 3,
    })
  })

  test('for a folder only as far as what else was approved goes', () => {
    const deleting = (path: string, recursive: boolean) => ({ path, recursive })
    const decided = ['a/1', 'a/2', 'a/3'].flatMap((path) =>
      approved(1, 'filesystem.delete', deleting(path, false)),
    )
    const asked = (recursive: boolean) => request('filesystem.delete', deleting('a/4', recursive))
    expect(proposeRule(asked(false), decided, now)?.when).toBe(
      'args.path.startsWith("a/") && args.recursive == false',
    )
    expect(proposeRule(asked(true), decided, now)).toBeNull()
  })
})

describe('no rule is proposed', () => {
  const asked = request('process.run', tests)

  test.each([
    ['another agent was approved', approved(3, 'process.run', tests, { agent: 'other' as never })],
    ['another call was approved', approved(3, 'process.run', { ...tests, args: ['install'] })],
    [
      'it is more than a week ago',
      approved(3, 'process.run', tests, { decided_at: new Date(now - 8 * dayMs).toISOString() }),
    ],
    [
      'one was rejected',
      [
        ...approved(3, 'process.run', tests),
        request('process.run', { ...tests, args: ['install'] }, { ...agreed, status: 'rejected' }),
      ],
    ],
    [
      'one was critical',
      [
        ...approved(3, 'process.run', tests),
        ...approved(1, 'process.run', tests, { critical: true }),
      ],
    ],
    [
      'a person changed the arguments',
      approved(3, 'process.run', tests, {
        edit: { original: asked.id, request: asked.id, decided: {}, effective: {} },
      }),
    ],
  ])('where %s', (_why, decided) => {
    expect(proposeRule(asked, decided, now)).toBeNull()
  })

  test('for a critical request', () => {
    const critical = request('process.run', tests, { critical: true })
    expect(proposeRule(critical, approved(3, 'process.run', tests), now)).toBeNull()
  })

  test.each([
    ['process.run', { ...tests, environment: { TOKEN: 'x' } }],
    ['process.run', { ...tests, args: ['--token', 'x'] }],
    ['process.run', { ...tests, stdin: 'x' }],
    ['network.http_request', { url: 'https://api.example.org/', headers: { authorization: 'x' } }],
    ['network.http_request', { url: 'https://ana:secret@api.example.org/' }],
  ])('that would write a credential into a file: %s %j', (capability, args) => {
    expect(proposeRule(request(capability, args), approved(3, capability, args), now)).toBeNull()
  })

  test.each([
    ['the workspace', ['a.md', 'b.md', 'c.md']],
    ['a folder below the root', ['/home/a.md', '/home/b.md', '/home/c.md']],
    ['a place that is spelt with dots', ['a/../b/1', 'a/../b/2', 'a/../b/3']],
    ['two folders', ['a/1', 'b/2', 'a/3']],
  ])('for %s', (_what, paths) => {
    const decided = paths.flatMap((path) => approved(1, 'filesystem.write', writing(path)))
    expect(proposeRule(request('filesystem.write', writing('a/4')), decided, now)).toBeNull()
  })
})

describe('the rule is written', () => {
  const rule: ProposedRule = {
    agent: 'builder',
    capability: 'process.run',
    when: `args == {"command":"it's"}`,
    folder: null,
    what: "it's",
    approvals: 3,
    args: { command: "it's" },
  }
  const lines = [
    '- match: process.run',
    `  when: 'args == {"command":"it''s"}'`,
    '  tier: autonomous',
    '  reason: Approved 3 times in a week',
  ]
  const tested = `- { capability: process.run, args: {"command":"it's"}, expect: autonomous }`
  const indented = (all: readonly string[]) => all.map((line) => `  ${line}`)
  const write = (text: string | null, askedAtLine: number | null = null) =>
    withRule(text, rule, { network: [], askedAtLine })?.text.split('\n')

  test('into a file of its own where the agent has none', () => {
    expect(write(null)).toEqual([
      ...['version: 1', 'rules:', ...indented(lines), 'tests:', `  ${tested}`, ''],
    ])
  })

  const file = [
    'version: 1',
    'rules:',
    '    # first of all',
    '    - { match: process.run, when: args.command == "rm", tier: blocked }',
    '    - match: process.*',
    '      tier: approval_required',
    '',
    '# how many',
    'limits:',
    '  - { match: process.run, limit: 5, window: 1m }',
  ]

  test('right before the rule that asks, and behind those that go before it', () => {
    expect(write(`${file.join('\n')}\n\n`, 5)).toEqual([
      ...file.slice(0, 4),
      ...lines.map((line) => `    ${line}`),
      ...file.slice(4),
      ...['tests:', `  ${tested}`, ''],
    ])
  })

  test('behind all rules of the file, where another file asks', () => {
    expect(write(file.join('\n'))).toEqual([
      ...file.slice(0, 6),
      ...lines.map((line) => `    ${line}`),
      ...file.slice(6),
      ...['tests:', `  ${tested}`, ''],
    ])
  })

  test('with the hosts that the program could reach', () => {
    const written = withRule(null, rule, { network: ['a.example:443'], askedAtLine: null })
    expect(written?.text).toContain('\n    network: ["a.example:443"]\n')
  })

  test.each([
    ['rules: [{ match: process.run, tier: blocked }]', null],
    ['rules: []', null],
    ['rules:\n  - { match: process.run,\n      tier: approval_required }', 3],
  ])('by a person, where the file is written otherwise: %j', (rules, askedAtLine) => {
    expect(
      write(`version: 1\n${rules}\n`, askedAtLine === null ? null : askedAtLine + 1),
    ).toBeUndefined()
  })

  test('with invisible characters by their codes, which YAML and CEL read alike', () => {
    const odd = request('git.push', { path: 'a\u202eb' })
    const proposed = proposeRule(odd, approved(3, 'git.push', { path: 'a\u202eb' }), now)
    expect(proposed?.when).toBe('args == {"path":"a\\U0000202Eb"}')
  })
})
