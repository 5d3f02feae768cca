import { processorMs } from '@gatehouse/testkit/processor-time'
import { expect, test } from 'vitest'
import { parsePolicyFile } from './parse-file.ts'
import { knownNamesOf } from './unknown-names.ts'

const names = knownNamesOf(['filesystem.read', 'filesystem.delete', 'email.send', 'process.run'])
const organisation = { layer: 'organisation', file: 'organisation.yaml', agent: null } as const

const parse = (text: string) => parsePolicyFile(organisation, text, names)
const told = (text: string): readonly string[] => {
  const result = parse(text)
  const problems = result.kind === 'ok' ? result.parsed.warnings : result.problems
  return problems.map((p) => `${p.severity} ${p.file}:${p.line}:${p.column} ${p.message}`)
}

const whole = `version: 1
rules:
  - match: filesystem.delete
    when: args.path.startsWith("/srv/scratch/")
    tier: autonomous
    notify: true
    reason: Scratch files may go
    floor: false
  - { match: "*", tier: approval_required, floor: true }
limits:
  - { match: "filesystem.*", limit: 100, window: 1h }
tests:
  - { capability: filesystem.delete, args: { path: /srv/scratch/a }, expect: autonomous }
`

test('reads a whole file, and each rule knows its line', () => {
  const result = parse(whole)
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  const { layer, tests, warnings } = result.parsed
  expect(warnings).toEqual([])
  expect(layer.rules.map((rule) => [rule.ref.line, rule.match, rule.tier, rule.floor])).toEqual([
    [3, 'filesystem.delete', 'autonomous', false],
    [9, '*', 'approval_required', true],
  ])
  expect(layer.limits[0]).toMatchObject({ limit: 100, window_ms: 3_600_000, ref: { line: 11 } })
  expect(tests[0]?.at).toEqual({ line: 13, column: 5 })
})

test('one mistake of YAML is told once, however often the reader trips over it', () => {
  const text = 'version: 1\nrules:\n  - match: email.send\n    tier: blocked\n- match: email.send'
  expect(told(text)).toEqual(['error organisation.yaml:5:1 it is not valid YAML here'])
})

test.each([
  ['', '1:1 the file is empty, and an empty file is not taken for a policy'],
  ['# nothing yet\n', '1:1 the file is empty, and an empty file is not taken for a policy'],
  ['version: 1\n', '1:1 the file has neither rules nor limits nor tools'],
  ['version: 1\ntools: []\n', '2:8 tools: Too small: expected array to have >=1 items'],
  [
    'version: 1\ntools: [filesystem]\n',
    '2:9 tools[0]: "filesystem" is no pattern of tools; one is <group>.<action>, such as filesystem.* or github.list_*',
  ],
  ['version: 1\nrules:\n', '2:7 rules must be of type array'],
  ['- a\n', '1:1 the file must be of type object'],
  ['version: 2\nrules: []\n', '1:10 version must be 1.'],
  ['rules: []\n', '1:1 version is missing'],
  ['version: 1\nrules:\n\t- match: x\n', '3:1 tabs cannot be used for indentation'],
  ['version: 1\nversion: 1\nrules: []\n', '2:1 the key version stands here twice'],
  ['version: 1\nrules: &r []\nlimits: *r\n', '3:9 aliases cannot be used'],
  ['version: 1\nrules: &r []\n', '2:11 anchors cannot be used'],
  ['version: 1\nrules: !!seq []\n', '2:14 the tag tag:yaml.org,2002:seq cannot be used'],
  ['%YAML 1.1\n---\nversion: 1\nrules: []\n', '1:1 directives cannot be used'],
  ['version: 1\nrules: []\n---\nversion: 1\n', '3:1 a policy file holds one document'],
  [
    'version: 1\nrules:\n  - match: email.send\n    tier: blockd\n',
    '4:11 rules[0].tier must be autonomous, approval_required or blocked. Did you mean blocked?',
  ],
  [
    'version: 1\nrules:\n  - match: email.send\n    tiers: blocked\n',
    '4:5 unknown key tiers. Did you mean tier?',
  ],
  [
    'version: 1\nrules:\n  - { match: email send, tier: blocked }\n',
    '3:14 rules[0].match: expected a capability, group.* or *',
  ],
  [
    'version: 1\nlimits:\n  - { match: "*", limit: 0, window: 1h }\n',
    '3:26 limits[0].limit: Too small: expected number to be >=1',
  ],
  [
    'version: 1\nlimits:\n  - { match: "*", limit: 5, window: 1w }\n',
    '3:37 limits[0].window: expected a window such as 30s, 1m, 1h or 1d',
  ],
  [
    'version: 1\nrules:\n  - match: email.send\n    when: args.to == "x" && usr.name == "y"\n    tier: blocked\n',
    '4:29 condition: Unknown variable: usr',
  ],
  [
    'version: 1\nrules:\n  - match: email.send\n    when: "args.to =="\n    tier: blocked\n',
    '4:22 condition: Unexpected token: EOF',
  ],
  [
    'version: 1\nrules:\n  - match: email.send\n    when: |\n      args.to ==\n    tier: blocked\n',
    '4:11 condition: Unexpected token: EOF (at character 12 of the condition)',
  ],
  [
    'version: 1\nrules: []\ntests:\n  - { capability: email.send, expect: blocked, at: noon }\n',
    '4:52 tests[0].at is not a time such as 2026-01-01T12:00:00Z',
  ],
])('says where and why %j is refused', (text, expected) => {
  const problems = told(text)
  expect(problems).toContain(`error organisation.yaml:${expected}`)
})

test('refuses a file cut off anywhere, or reads it as what it then says', () => {
  const rulesIn = (text: string) => {
    const result = parse(text)
    return result.kind === 'ok' ? result.parsed.layer.rules.length : null
  }
  const cuts = Array.from({ length: whole.length }, (_, end) => rulesIn(whole.slice(0, end)))
  // Never a policy without its first rule.
  expect(cuts.filter((rules) => rules === 0)).toEqual([])
  expect(rulesIn(whole)).toBe(2)
})

test('refuses an alias bomb, deep nesting and a huge file at once', () => {
  const levels = 'abcdefghij'.split('')
  const bomb = levels
    .map((name, i) => `${name}: &${name} [${i ? `*${levels[i - 1]},`.repeat(9) : 'lol'}]`)
    .join('\n')
  const started = processorMs()
  expect(told(`${bomb}\n`)[0]).toContain('cannot be used')
  expect(told(`version: 1\nrules: ${'['.repeat(50_000)}`)[0]).toContain('error')
  expect(told(`version: 1\nrules: []\n#${'x'.repeat(1_048_576)}`)[0]).toContain('over 1 MiB')
  expect(processorMs() - started).toBeLessThan(5_000)
})

test('refuses capabilities that are not there; a copy that was valid once is only warned of', () => {
  const text = `version: 1
rules:
  - { match: filesystem.raed, tier: blocked }
  - { match: "emai.*", tier: blocked }
`
  const problems = [
    'organisation.yaml:3:14 there is no capability filesystem.raed. Did you mean filesystem.read or filesystem.delete?',
    'organisation.yaml:4:14 there is no capability in a group emai. Did you mean email?',
  ]
  expect(told(text)).toEqual(problems.map((problem) => `error ${problem}`))
  expect(parsePolicyFile(organisation, text, names, 'warned')).toMatchObject({
    kind: 'ok',
    parsed: { warnings: [{ line: 3 }, { line: 4 }] },
  })
})

test.each([
  [
    '  - { match: filesystem.read, tier: blocked, when: args.file == "x" }',
    '3:52 condition: filesystem.read has no argument file. Did you mean path?',
  ],
  [
    '  - { match: "filesystem.*", tier: blocked, when: args.recursiv }',
    '3:51 condition: nothing that filesystem.* matches has an argument recursiv. Did you mean recursive?',
  ],
  [
    '  - { match: filesystem.read, tier: blocked, when: path.startsWith("x") }',
    '3:52 condition: Unknown variable: path. Did you mean args.path?',
  ],
  ['  - { match: *, tier: blocked }', '3:14 a value that begins with * must be quoted, as in "*"'],
  [
    '  - { match: "*", tier: blocked }\ntests:\n  - { capability: email.send, args: { too: x }, expect: blocked }',
    '5:39 email.send has no argument too. Did you mean to?',
  ],
])('refuses an argument that does not exist: %s', (rules, expected) => {
  const shapes: Record<string, string[]> = {
    'filesystem.read': ['path'],
    'filesystem.delete': ['path', 'recursive'],
    'email.send': ['to'],
  }
  const known = knownNamesOf(Object.keys(shapes), (name) => shapes[name] ?? [])
  const at = (text: string) => parsePolicyFile(organisation, text, known)
  const result = at(`version: 1\nrules:\n${rules}\n`)
  const problems = result.kind === 'ok' ? [] : result.problems
  expect(problems.map((p) => `${p.line}:${p.column} ${p.message}`)).toContain(expected)
  // An argument that only some of a group have is one that a rule for the group may read.
  const some = 'when: has(args.recursive) && args.recursive'
  expect(
    at(`version: 1\nrules:\n  - { match: "filesystem.*", tier: blocked, ${some} }\n`),
  ).toMatchObject({ kind: 'ok' })
})

test('reads the hosts that a program may reach', () => {
  const result = parse(`version: 1
rules:
  - match: process.run
    tier: approval_required
    network: ["api.example.com:443", "*.example.org:8443", "[2001:db8::1]:443"]
`)
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  expect(result.parsed.layer.rules[0]?.network).toEqual([
    'api.example.com:443',
    '*.example.org:8443',
    '[2001:db8::1]:443',
  ])
})

test.each([
  ['https://example.com', 'expected a host in small letters and a port'],
  ['example.com', 'expected a host in small letters and a port'],
  ['example.com:0', 'expected a host in small letters and a port'],
  ['example.com:65536', 'expected a host in small letters and a port'],
  ['*:443', 'expected a host in small letters and a port'],
  ['Example.com:443', 'expected a host in small letters and a port'],
])('refuses %s as a host that a program may reach', (host, message) => {
  const text = `version: 1\nrules:\n  - { match: process.run, tier: blocked, network: ["${host}"] }\n`
  expect(told(text).join()).toContain(message)
})

test.each(['autonomous', 'blocked'])('refuses critical on a rule that asks nobody: %s', (tier) => {
  const text = `version: 1\nrules:\n  - match: email.send\n    tier: ${tier}\n    critical: true\n`
  expect(told(text)).toEqual([
    `error organisation.yaml:5:5 critical belongs to a rule of the tier approval_required, not ${tier}`,
  ])
})

test('refuses hosts on a rule that starts no program', () => {
  const text = `version: 1\nrules:\n  - match: email.send\n    tier: blocked\n    network: ["a.org:443"]\n`
  expect(told(text)).toEqual([
    'error organisation.yaml:5:5 network belongs to a rule for process.run or process.*, not for email.send',
  ])
})

test('lets a rule wait for a tool of an upstream server, and takes a misspelt name of our own for an error', () => {
  const known = knownNamesOf(
    ['filesystem.read', 'git.push', 'github.create_issue'],
    undefined,
    (name) => !name.startsWith('github.'),
  )
  const at = (match: string) => {
    const result = parsePolicyFile(
      organisation,
      `version: 1\nrules:\n  - { match: "${match}", tier: blocked }\n`,
      known,
    )
    const problems = result.kind === 'ok' ? result.parsed.warnings : result.problems
    return problems.map(({ severity, message }) => `${severity} ${message}`)
  }
  expect(at('gitlab.*')).toEqual([
    'warning nothing is called gitlab.* yet: the rule waits for an upstream server gitlab. Did you mean github?',
  ])
  expect(at('github.delete_repository')).toEqual([
    'warning nothing is called github.delete_repository yet: the rule waits for such a tool.',
  ])
  expect(at('github.create_issue')).toEqual([])
  expect(at('gitt.push')).toEqual([
    'error there is no capability in a group gitt. Did you mean git?',
  ])
  expect(at('git.shove')).toEqual(['error there is no capability git.shove.'])
})

test('reads a list of tools, which alone is enough for a file, and knows its line', () => {
  const result = parse('version: 1\n\ntools: ["email.*", "*.read", "email.*"]\n')
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  expect(result.parsed.layer.tools).toEqual({
    patterns: ['email.*', '*.read'],
    ref: { layer: 'organisation', file: 'organisation.yaml', line: 3, match: 'tools' },
  })
  expect(result.parsed.warnings).toEqual([])
})

test('a list with everything in it is none', () => {
  const result = parse('version: 1\ntools: ["email.*", "*"]\n')
  expect(result.kind === 'ok' && result.parsed.layer.tools).toBeUndefined()
})

test('warns of a pattern that no tool fits, since it gives less than was meant', () => {
  expect(told('version: 1\ntools: [email.sned, email.send]\n')).toEqual([
    'warning organisation.yaml:2:9 email.sned matches no tool that is known now. Did you mean email.send?',
  ])
})
