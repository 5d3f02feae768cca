import { expect, test } from 'vitest'
import { standardCapabilities } from '../capabilities/standard.ts'
import { compilePolicy } from '../domain/policy/compile.ts'
import { openWayWarnings } from './open-ways.ts'
import { type FileId, parsePolicyFile } from './parse-file.ts'
import { createSystemPolicy } from './system-policy.ts'
import { knownNamesOf } from './unknown-names.ts'

const known = new Map(standardCapabilities.map((one) => [one.name, one]))
const names = knownNamesOf([...known.keys()], (name) => known.get(name)?.argument_names ?? [])
const argumentsOf = (name: string) => known.get(name)

const parsed = (id: FileId, text: string) => {
  const result = parsePolicyFile(id, text, names)
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  return result.parsed
}
const system = createSystemPolicy(standardCapabilities, names)

const warningsOf = (...rules: readonly string[]): readonly string[] => {
  const id = { layer: 'organisation', file: 'organisation.yaml', agent: null } as const
  const text = `version: 1\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`
  const file = parsed(id, text)
  const policy = compilePolicy('v', [system.layer, file.layer])
  return openWayWarnings(policy, file, argumentsOf).map(
    ({ line, column, severity, message }) => `${line}:${column} ${severity} ${message}`,
  )
}

const inReports = 'when: args.path.startsWith("reports/")'

test('names what can still write where filesystem.write cannot', () => {
  expect(
    warningsOf(
      `match: filesystem.write, ${inReports}, tier: autonomous`,
      'match: filesystem.write, tier: blocked',
    ),
  ).toEqual([
    '4:5 warning filesystem.write is blocked elsewhere, but filesystem.append, filesystem.edit, filesystem.mkdir, filesystem.copy and filesystem.move can still write there; match: { effect: write } covers them all',
  ])
})

test('names the place where one is closed, for deleting and reading too', () => {
  expect(warningsOf('match: filesystem.delete, when: args.path == "keep", tier: blocked')).toEqual([
    '3:5 warning filesystem.delete is blocked for keep, but filesystem.move can still remove files there; match: { effect: delete } covers them all',
  ])
  expect(
    warningsOf('match: filesystem.read, when: args.path.endsWith(".env"), tier: approval_required'),
  ).toEqual([
    '3:5 warning filesystem.read needs approval for .env, but filesystem.search_content, filesystem.copy and filesystem.move can read files there without it; match: { effect: read } covers them all',
  ])
})

test('says nothing where each way is closed', () => {
  const destinations = 'when: args.destination.startsWith("reports/")'
  expect(
    warningsOf(
      ...['write', 'append', 'edit', 'mkdir'].map(
        (name) => `match: filesystem.${name}, ${inReports}, tier: autonomous`,
      ),
      ...['copy', 'move'].map(
        (name) => `match: filesystem.${name}, ${destinations}, tier: autonomous`,
      ),
      'match: "filesystem.*", tier: approval_required',
    ),
  ).toEqual([])
})

test('a rule by effect leaves no way open but that of programs that run at once', () => {
  for (const effect of ['read', 'write', 'delete'])
    for (const where of ['', ', under: "a/**"'])
      expect(warningsOf(`match: { effect: ${effect}${where} }, tier: blocked`)).toEqual([])
  expect(
    warningsOf('match: { effect: write }, tier: blocked', 'match: process.run, tier: autonomous'),
  ).toEqual([
    '3:5 warning write anywhere is blocked, but programs of process.run run at once and are not held to it',
  ])
})

test('says nothing of rules that close no way to a place', () => {
  expect(warningsOf('match: filesystem.delete, tier: blocked')).toEqual([])
  expect(warningsOf('match: filesystem.write, tier: autonomous')).toEqual([])
  expect(
    warningsOf('match: filesystem.write, when: size(args.content) > 9, tier: blocked'),
  ).toEqual([])
  expect(warningsOf('match: "filesystem.*", tier: blocked')).toEqual([])
})
