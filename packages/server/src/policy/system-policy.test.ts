import { expect, test } from 'vitest'
import { standardCapabilities } from '../capabilities/standard.ts'
import type { Layer } from '../domain/policy/types.ts'
import { policyJsonSchema } from './json-schema.ts'
import { type ParsedFile, parsePolicyFile } from './parse-file.ts'
import { createSystemPolicy } from './system-policy.ts'
import { knownNamesOf } from './unknown-names.ts'

const capabilities = [
  { name: 'process.run', tier: 'approval_required', notify: false },
  { name: 'filesystem.write', tier: 'autonomous', notify: true },
  { name: 'filesystem.read', tier: 'autonomous', notify: false },
] as const

const readAgain = (made: ParsedFile): ParsedFile => {
  const read = parsePolicyFile(made.id, made.text, made.names)
  if (read.kind !== 'ok') throw new Error(JSON.stringify(read.problems))
  return read.parsed
}

test.each([
  ['three', capabilities],
  ['all standard', standardCapabilities],
  ['no', []],
] as const)('is what its text says to whoever reads it: %s capabilities', (_, some) => {
  const made = createSystemPolicy(some, knownNamesOf(some.map(({ name }) => name)))
  const { positionOf, ...facts } = readAgain(made)
  expect(made).toEqual({ ...facts, positionOf: expect.any(Function) })
  const places = (of: ParsedFile['positionOf'], { rules }: Layer) => rules.map(of)
  expect(places(made.positionOf, made.layer)).toEqual(places(positionOf, facts.layer))
  expect(made.layer.rules.every(({ ref }) => Object.isFrozen(ref))).toBe(true)
})

test('ships each capability with its tier, and a limit for each group, at real lines', () => {
  const names = knownNamesOf(capabilities.map(({ name }) => name))
  const { text, layer } = createSystemPolicy(capabilities, names)
  expect(createSystemPolicy(capabilities.toReversed(), names).text).toBe(text)
  const { rules, limits } = layer
  expect(rules.map((rule) => [rule.match, rule.tier, rule.notify])).toEqual([
    ['filesystem.read', 'autonomous', false],
    ['filesystem.write', 'autonomous', true],
    ['process.run', 'approval_required', false],
  ])
  expect(text.split('\n')[(rules[2]?.ref.line ?? 0) - 1]).toContain('process.run')
  expect(limits.map((limit) => [limit.match, limit.limit, limit.window])).toEqual([
    ['filesystem.*', 600, '1m'],
    ['process.*', 60, '1m'],
  ])
})

test('publishes a schema that lets editors complete a file', () => {
  expect(policyJsonSchema()).toMatchObject({
    type: 'object',
    required: ['version'],
    additionalProperties: false,
    properties: { rules: { type: 'array' }, limits: {}, tests: {} },
  })
})
