import { describeCall } from '@gatehouse/contract/describe-call'
import { expect, test } from 'vitest'
import type { Capability } from '../ports/capability.ts'
import { standardCapabilities } from './standard.ts'

type Schema = {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
}

/** A value of a field in which its name can be found again. */
const sampleOf = (name: string, schema: Schema): unknown => {
  const { type = schema.anyOf?.[0]?.type, properties = {} } = schema
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return [`a-${name}`]
  if (type === 'object') return samplesOf({ properties }, Object.keys(properties))
  return `a-${name}`
}

const samplesOf = ({ properties = {} }: Schema, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, sampleOf(name, properties[name] ?? {})]))

/** Capabilities whose required arguments are nothing that a line could name; more may be given. */
const aboutNothing: ReadonlySet<string> = new Set([
  'comms.broadcast',
  'inference.chat',
  'inference.embed',
  'inference.generate',
  'alerts.send',
  'email.draft',
  // A path, or a root with a glob.
  'filesystem.edit',
])

/** Contents, which must never leave the machine with a notice. */
const contents = ['content', 'body', 'html', 'message', 'value', 'stdin', 'environment', 'headers']
const unsaid = [...contents, 'subject', 'replace', 'prompt', 'messages', 'input', 'context']

const cases = standardCapabilities.map((capability) => [capability.name, capability] as const)
const fieldsOf = ({ input_schema }: Capability) =>
  Object.keys((input_schema as Schema).properties ?? {})

test.each(cases)('says what a call of %s is about', (name, capability) => {
  const required = (capability.input_schema['required'] ?? []) as readonly string[]
  const least = describeCall(name, samplesOf(capability.input_schema as Schema, required))
  if (required.length > 0 && !aboutNothing.has(name)) expect(least).not.toBe('')
  const all = describeCall(name, samplesOf(capability.input_schema as Schema, fieldsOf(capability)))
  for (const field of [...unsaid, ...capability.redact])
    expect(all).not.toMatch(new RegExp(`a-${field}(?![\\w-])`))
})
