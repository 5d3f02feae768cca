import type { PolicyTier } from '@gatehouse/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { standardCapabilities } from '../capabilities/standard.ts'
import { compilePolicy } from '../domain/policy/compile.ts'
import { tierOf } from '../domain/policy/tiers.ts'
import { effectsIn, fileEffects, foldersIn } from './file-effects.ts'
import { parsePolicyFile } from './parse-file.ts'
import { planActivation } from './plan-activation.ts'
import { buildTestQuestion } from './run-tests.ts'
import { createSystemPolicy } from './system-policy.ts'
import { knownNamesOf } from './unknown-names.ts'

const known = new Map(standardCapabilities.map((one) => [one.name, one]))
const names = knownNamesOf([...known.keys()], (name) => known.get(name)?.argument_names ?? [])
const argumentsOf = (name: string) => known.get(name)
const organisation = { layer: 'organisation', file: 'organisation.yaml', agent: null } as const

const parse = (text: string) => parsePolicyFile(organisation, text, names)
const file = (...rules: readonly string[]) =>
  `version: 1\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`
const told = (text: string): readonly string[] => {
  const result = parse(text)
  return (result.kind === 'ok' ? result.parsed.warnings : result.problems).map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  )
}

const decideBy = (...rules: readonly string[]) => {
  const result = parse(file(...rules))
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  const system = createSystemPolicy(standardCapabilities, names)
  const policy = compilePolicy('v', [system.layer, result.parsed.layer])
  return (capability: string, args: Record<string, unknown> = {}): PolicyTier =>
    tierOf(policy.decide(buildTestQuestion({ capability, args }, argumentsOf)))
}

test('a question of a test has the arguments that a call has: what it leaves out is filled in', () => {
  const tier = decideBy('match: filesystem.mkdir, when: args.parents, tier: blocked')
  expect(tier('filesystem.mkdir', { path: 'a' })).toBe('blocked')
  expect(tier('filesystem.mkdir', { path: 'a', parents: false })).toBe('autonomous')
  for (const { name, common_patterns, parse } of standardCapabilities)
    for (const { arguments: args } of common_patterns) {
      const parsed = parse(args)
      if (parsed.kind !== 'valid') throw new Error(`${name}: ${JSON.stringify(parsed.problems)}`)
      const { args: asked } = buildTestQuestion({ capability: name, args }, argumentsOf)
      expect(Object.keys(asked).toSorted(), name).toEqual(Object.keys(parsed.args).toSorted())
    }
})

test('each capability that takes a path is in the table, but for those that files are not decided by', () => {
  const elsewhere = (name: string) => name.startsWith('client.') || name === 'process.run'
  const missing = standardCapabilities.filter(
    ({ name, paths }) =>
      paths.length > 0 &&
      !elsewhere(name) &&
      paths.some((path) => fileEffects[name]?.[path] === undefined),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
  expect(Object.keys(fileEffects).filter((name) => !known.has(name))).toEqual([])
})

test('writing is limited to a folder by two rules, whatever the capability', () => {
  const decide = decideBy(
    'match: { effect: write, under: "reports/**" }, tier: autonomous',
    'match: { effect: write }, tier: blocked',
  )
  for (const name of ['write', 'append', 'edit', 'mkdir'].map((one) => `filesystem.${one}`)) {
    expect([name, decide(name, { path: 'reports/a' })]).toEqual([name, 'autonomous'])
    expect([name, decide(name, { path: 'reports/../a' })]).toEqual([name, 'blocked'])
    expect([name, decide(name, { path: 'reportsa' })]).toEqual([name, 'blocked'])
  }
  const copy = (source: string, destination: string) =>
    decide('filesystem.copy', { source, destination })
  expect(copy('reports/a', 'reports/b')).toBe('autonomous')
  expect(copy('reports/a', 'b')).toBe('blocked')
  expect(decide('git.commit', { path: 'shop' })).toBe('blocked')
  expect(decide('network.download', { path: 'a', url: 'https://example.org' })).toBe('blocked')
  expect(decide('filesystem.read', { path: 'a' })).toBe('autonomous')
})

test('a rule about writing lets nothing out of other folders, and has nothing deleted', () => {
  const decide = decideBy(
    'match: { effect: write, under: "reports/**" }, tier: autonomous',
    'match: "*", tier: blocked',
  )
  expect(decide('filesystem.copy', { source: 'secret/a', destination: 'reports/a' })).toBe(
    'blocked',
  )
  expect(decide('filesystem.move', { source: 'reports/a', destination: 'reports/b' })).toBe(
    'blocked',
  )
  expect(decide('network.download', { path: 'reports/a', url: 'https://a.org' })).toBe('blocked')
  const both = decideBy(
    'match: { effect: [write, delete], under: "reports/**" }, tier: autonomous',
    'match: "*", tier: blocked',
  )
  expect(both('filesystem.move', { source: 'reports/a', destination: 'reports/b' })).toBe(
    'autonomous',
  )
  expect(both('filesystem.delete', { path: 'reports' })).toBe('blocked')
})

test('a folder is closed with everything that reads it, attachments and moves included', () => {
  const decide = decideBy('match: { effect: read, under: ["secret/**", "keys/**"] }, tier: blocked')
  expect(decide('filesystem.read', { path: 'keys/a' })).toBe('blocked')
  expect(decide('filesystem.list', { path: 'secret' })).toBe('blocked')
  expect(decide('filesystem.move', { source: 'secret/a', destination: 'b' })).toBe('blocked')
  expect(decide('email.send', { attachments: ['a', 'secret/b'] })).toBe('blocked')
  expect(decide('email.send', { attachments: ['a'] })).toBe('approval_required')
  expect(decide('filesystem.read', { path: 'secrets' })).toBe('autonomous')
})

test('a condition of its own sees paths in its own form', () => {
  const decide = decideBy(
    `match: { effect: write, under: "reports/**" }, when: args.path != "/workspace/reports/keep", tier: blocked`,
  )
  expect(decide('filesystem.write', { path: 'reports/keep' })).toBe('autonomous')
  expect(decide('filesystem.write', { path: 'reports/a' })).toBe('blocked')
  // The condition fails where there is no such argument, and a rule that blocks then holds.
  expect(decide('filesystem.copy', { source: 'a', destination: 'reports/b' })).toBe('blocked')
  expect(decide('filesystem.copy', { source: 'a', destination: 'b' })).toBe('autonomous')
})

test.each([
  [
    'match: { effect: writes }',
    '3:24 rules[0].match.effect must be read, write or delete. Did you mean write?',
  ],
  ['match: { effect: write, below: "a/**" }', '3:31 unknown key below.'],
  ['match: { under: "a/**" }', '3:14 rules[0].match.effect is missing'],
  ...['a', '/**', '**', '../a/**', 'a/*/**', '~/a/**', 'a//b/**'].map((folder) => [
    `match: { effect: write, under: "${folder}" }`,
    '3:38 rules[0].match.under: expected a folder and /**, such as reports/** or /srv/shared/**',
  ]),
  [
    'match: { effect: write, under: ["a/**", "/b/**"] }',
    '3:38 absolute and relative folders belong to rules of their own',
  ],
  [
    'match: { effect: delete }, when: args.file == "a"',
    '3:40 condition: nothing that the rule matches has an argument file.',
  ],
  [
    'match: { effect: write }, network: ["a.org:443"]',
    '3:33 network belongs to a rule for process.run or process.*, not for write anywhere',
  ],
])('says where %s is wrong', (rule, message) => {
  expect(told(file(`${rule}, tier: blocked`))[0]).toContain(message)
})

test('a file has a hundred rules by effect at most', () => {
  const rules = Array.from({ length: 101 }, () => 'match: { effect: write }, tier: blocked')
  expect(told(file(...rules))).toEqual(['103:14 a file has at most 100 rules that match by effect'])
})

test('such a rule is dead only where each of its parts is, and is counted and told as one', () => {
  const system = createSystemPolicy(standardCapabilities, names)
  const plan = (...rules: readonly string[]) =>
    planActivation({
      system,
      offers: [{ id: organisation, content: { text: file(...rules) } }],
      before: new Map(),
      starting: false,
      names,
      argumentsOf,
    })
  const deletes = 'match: { effect: delete }, tier: blocked'
  expect(plan('match: filesystem.delete, tier: blocked', deletes).problems).toEqual([])
  const twice = plan(deletes, deletes)
  expect(twice.problems.map(({ line, message }) => [line, message])).toEqual([
    [4, 'this rule is never reached: delete anywhere in line 3 always matches first'],
  ])
  expect(twice.counts.get('organisation.yaml')?.rules).toBe(2)
})

const place = fc.constantFrom('a', 'a/b', 'ab', 'b', 'b/a', 'a/b/c', '/workspace/a', '../a')
const matches = fc.record({
  effect: fc.constantFrom<'read' | 'write' | 'delete'>('read', 'write', 'delete'),
  under: fc.constantFrom('a/**', 'a/b/**', 'b/**'),
})
const tiers = fc.constantFrom<PolicyTier>('autonomous', 'approval_required', 'blocked')

/** Told from the guide alone. */
const isBelow = (path: string, folder: string, orIs: boolean): boolean => {
  const plain = path.replace('/workspace/', '')
  return plain.startsWith(`${folder}/`) || (orIs && plain === folder)
}

test('a rule that loosens needs every place in its folder, and any other one of them', () => {
  fc.assert(
    fc.property(
      matches,
      tiers,
      fc.constantFrom(...Object.keys(fileEffects)),
      place,
      place,
      (match, tier, capability, one, other) => {
        const effects = fileEffects[capability] ?? {}
        const given = Object.keys(effects).filter((name) =>
          argumentsOf(capability)?.paths.includes(name),
        )
        const places = given.map((name, at) => [name, at === 0 ? one : other] as const)
        const args = Object.fromEntries(
          places.map(([name, path]) => [name, name === 'attachments' ? [path] : path]),
        )
        const [folder = ''] = foldersIn(match)
        const about = places.filter(([name]) =>
          effects[name]?.some((effect) => effectsIn(match).includes(effect)),
        )
        const all = Object.values(effects).flat()
        const isMatched =
          tier === 'autonomous'
            ? about.length > 0 &&
              capability.startsWith('filesystem.') &&
              all.every((effect) => effect === 'read' || effect === match.effect) &&
              places.every(([, path]) => isBelow(path, folder, false))
            : about.some(([, path]) => isBelow(path, folder, true))
        const result = parse(
          file(
            `match: { effect: ${match.effect}, under: "${match.under}" }, tier: ${tier}, reason: told`,
          ),
        )
        if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
        const policy = compilePolicy('v', [result.parsed.layer])
        const { rule } = policy.decide(buildTestQuestion({ capability, args }, argumentsOf))
        expect(rule !== null).toBe(isMatched)
      },
    ),
    { numRuns: 400 },
  )
})
