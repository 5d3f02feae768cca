import { expect, test } from 'vitest'
import { policyJsonSchema } from './json-schema.ts'
import { parsePolicyFile } from './parse-file.ts'
import { renderSystemPolicy } from './system-policy.ts'
import { knownNamesOf } from './unknown-names.ts'

const capabilities = [
  { name: 'process.run', tier: 'approval_required', notify: false },
  { name: 'filesystem.write', tier: 'autonomous', notify: true },
  { name: 'filesystem.read', tier: 'autonomous', notify: false },
] as const

test('ships each capability with its tier, and a limit for each group, at real lines', () => {
  const text = renderSystemPolicy(capabilities)
  expect(renderSystemPolicy(capabilities.toReversed())).toBe(text)
  const names = knownNamesOf(capabilities.map(({ name }) => name))
  const id = { layer: 'system', file: 'system.yaml', agent: null } as const
  const result = parsePolicyFile(id, text, names)
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result.problems))
  const { rules, limits } = result.parsed.layer
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

test('renders a policy also when there are no capabilities', () => {
  const id = { layer: 'system', file: 'system.yaml', agent: null } as const
  expect(parsePolicyFile(id, renderSystemPolicy([]), knownNamesOf([])).kind).toBe('ok')
})

test('publishes a schema that lets editors complete a file', () => {
  expect(policyJsonSchema()).toMatchObject({
    type: 'object',
    required: ['version'],
    additionalProperties: false,
    properties: { rules: { type: 'array' }, limits: {}, tests: {} },
  })
})
