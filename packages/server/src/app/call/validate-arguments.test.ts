import type { JsonSchema } from '@gatehouse/contract/explain-issue'
import { expect, test } from 'vitest'
import { standardCapabilities } from '../../capabilities/standard.ts'
import type { Capability } from '../../ports/capability.ts'
import { validateArguments } from './validate-arguments.ts'

const find = (name: string): Capability => {
  const found = standardCapabilities.find((capability) => capability.name === name)
  if (!found) throw new Error(`there is no ${name}`)
  return found
}
const failureOf = (capability: Capability, args: unknown) => {
  const validated = validateArguments(capability, args)
  if (validated.kind === 'valid') throw new Error('it fits')
  return validated.error
}
const stepsOf = (name: string, args: unknown) => failureOf(find(name), args).recovery

test.each([
  ['filesystem.write', {}, 'add path', /^path is required: The file to write/],
  [
    'filesystem.write',
    { path: 'a' },
    'add content',
    /^content is required: New content of the file/,
  ],
  [
    'filesystem.write',
    { path: 7, content: '' },
    'fix path',
    /^path must be a string, not a number/,
  ],
  [
    'filesystem.read',
    { path: 'a', encoding: 'utf8' },
    'fix encoding',
    /^encoding must be utf-8, latin1 or base64, not "utf8"\. Did you mean utf-8\?$/,
  ],
  [
    'filesystem.read',
    { pth: 'a' },
    'rename pth to path',
    /^pth is not known\. Did you mean path\?/,
  ],
  ['filesystem.read', { path: 'a', zzzzzz: 1 }, 'remove zzzzzz', /Known here: path, encoding/],
  ['filesystem.read', { path: '' }, 'fix path', /^path must have at least 1 character:/],
  ['filesystem.list', { path: '.', limit: 99_999 }, 'fix limit', /^limit must be at most 10000/],
  ['filesystem.list', { path: '.', limit: 1.5 }, 'fix limit', /an integer, not a number with a fr/],
  [
    'filesystem.search',
    { path: '.', pattern: '*', modified_after: 'monday' },
    'fix modified_after',
    /^modified_after must be an ISO 8601 time such as 2026/,
  ],
  [
    'filesystem.search',
    { path: '.', pattern: '*', aggregate: { group_bye: 'day' } },
    'remove aggregate.group_bye',
    /^aggregate\.group_bye is not known\. Did you mean group_by\? Known here: group_by, dedupe\./,
  ],
  [
    'network.http_request',
    { url: 'https://a.org', body: 7 },
    'fix body',
    /a string, an object or a/,
  ],
  [
    'comms.send',
    { to: 'b', message: null },
    'fix message',
    /^message must be a string or an object/,
  ],
  ['email.search', { since: 'x' }, 'fix since', /^since must be a(n ISO 8601 time| date) such as/],
  ['state.set', { key: 'a' }, 'add value', /^value is required: Any JSON value/],
  [
    'scheduler.create',
    { capability: 'system.time' },
    'fix schedule',
    /^schedule give exactly one of schedule, run_at and delay_seconds\.$/,
  ],
])('%s %j: %s', (name, args, action, description) => {
  const step = stepsOf(name, args).find((one) => one.action === action)
  expect(step?.description).toMatch(description)
})

/** A value of another type than those that a field may have. */
const misfit = (field: JsonSchema): unknown => {
  const types = [field['type']].flat()
  if (!types.includes('object') && !types.includes('null')) return null
  if (!types.includes('array')) return []
  return types.includes('boolean') ? undefined : true
}

const requiredOf = (schema: JsonSchema): readonly string[] =>
  (schema['required'] as readonly string[] | undefined) ?? []

const cases = standardCapabilities.map((capability) => [capability.name, capability] as const)

test.each(cases)('%s says of each field what is wrong with it', (_name, capability) => {
  const schema = capability.input_schema
  const fields = Object.entries(schema['properties'] as Record<string, JsonSchema>)
  const missing = failureOf(capability, { nonsense_that_nobody_knows: 1 })
  expect(missing.message).not.toContain('Invalid')
  for (const name of requiredOf(schema)) {
    const field = (schema['properties'] as Record<string, JsonSchema>)[name]
    const step = missing.recovery.find(({ action }) => action === `add ${name}`)
    expect([name, step?.description]).toEqual([
      name,
      expect.stringContaining(`${name} is required`),
    ])
    const purpose = String(field?.['description'] ?? '').replace(/\.$/, '')
    expect(step?.description).toContain(purpose)
  }
  for (const [name, field] of fields) {
    const value = misfit(field)
    if (value === undefined) continue
    const { message, recovery } = failureOf(capability, { [name]: value })
    expect(message).not.toContain('Invalid')
    const step = recovery.find(({ action }) => action === `fix ${name}`)
    expect([name, step?.description]).toEqual([
      name,
      expect.stringMatching(new RegExp(`^${name} must be .*, not |^${name} must be `)),
    ])
  }
  const misspelt = fields[0]?.[0]
  if (misspelt === undefined) return
  const { recovery } = failureOf(capability, { [`${misspelt}x`]: 'x' })
  expect(recovery.map(({ action }) => action)).toContain(`rename ${misspelt}x to ${misspelt}`)
})
