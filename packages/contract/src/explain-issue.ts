import type { z } from 'zod'
import { didYouMean } from './nearest.ts'

type Issue = z.core.$ZodIssue
/** JSON Schema, as far as it says what a value is for. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** One thing that is wrong with a value, and where. `detail` goes on after the name of the field. */
export type Explained = {
  readonly path: readonly PropertyKey[]
  readonly kind: 'missing' | 'unknown' | 'wrong'
  readonly detail: string
}

const shownTextMax = 40

const words: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const either = (names: readonly string[], by = 'or'): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${by} ${names.at(-1)}`

const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a number with a fraction'
  return words[typeof value] ?? typeof value
}

export const valueAt = (given: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    given,
  )

const alternatives = (schema: JsonSchema): readonly JsonSchema[] => {
  const options = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(options) ? options.filter(isSchema) : []
}

const childOf = (schema: JsonSchema, key: PropertyKey): JsonSchema | undefined => {
  const { properties, items, additionalProperties } = schema
  const named =
    isSchema(properties) && Object.hasOwn(properties, key) ? properties[String(key)] : undefined
  const child = named ?? (typeof key === 'number' ? items : additionalProperties)
  if (isSchema(child)) return child
  return alternatives(schema)
    .map((option) => childOf(option, key))
    .find((found) => found !== undefined)
}

/** Schema of the field at a path. */
const schemaAt = (schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined =>
  path.reduce<JsonSchema | undefined>((at, key) => at && childOf(at, key), schema)

const purposeOf = (field: JsonSchema | undefined): string =>
  typeof field?.['description'] === 'string' ? `: ${field['description'].replace(/\.$/, '')}` : ''

const typesOf = (field: JsonSchema | undefined): readonly string[] => {
  if (!field) return []
  const own = [field['type'] ?? []].flat().map(String)
  return own.length > 0 ? own : alternatives(field).flatMap(typesOf)
}

const typeText = (types: readonly string[]): string =>
  either([...new Set(types)].map((type) => words[type] ?? type))

const fieldsOf = (schema: JsonSchema | undefined): readonly string[] =>
  isSchema(schema?.['properties']) ? Object.keys(schema['properties']) : []

const counted = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

const nouns: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

const boundText = (issue: Extract<Issue, { code: 'too_big' | 'too_small' }>): string => {
  const noun = nouns[issue.origin]
  const [bound, limit] =
    issue.code === 'too_big' ? ['at most', issue.maximum] : ['at least', issue.minimum]
  return noun === undefined
    ? `must be ${bound} ${limit}`
    : `must have ${bound} ${counted(limit, noun)}`
}

const formats: Readonly<Record<string, string>> = {
  datetime: 'must be an ISO 8601 time such as 2026-05-01T10:00:00Z',
  date: 'must be a date such as 2026-05-01',
  email: 'must be an address such as ben@example.net',
  url: 'must be an address such as https://example.org/path',
}

/** Beginning of the library's own message; a pattern that was given words has those instead. */
const unworded = 'Invalid string'

const formatText = (issue: Extract<Issue, { code: 'invalid_format' }>): string => {
  if (issue.format !== 'regex') return formats[issue.format] ?? `must be a valid ${issue.format}`
  return issue.message.startsWith(unworded) ? `must have the form ${issue.pattern}` : issue.message
}

const choiceText = (values: readonly unknown[], given: unknown): string => {
  const choices = values.map(String)
  const shown = typeof given === 'string' && given.length <= shownTextMax
  const got = shown ? `not ${JSON.stringify(given)}` : `not ${kindOf(given)}`
  return `must be ${either(choices)}, ${got}.${shown ? didYouMean(given, choices) : ''}`
}

/** Of the branches of a union, the one that the value was meant for: its own type fits there. */
const meantBranch = (issue: Extract<Issue, { code: 'invalid_union' }>): readonly Issue[] | null =>
  issue.errors.find(
    (branch) => branch.length > 0 && !branch.some((inner) => inner.path.length === 0),
  ) ?? null

const wrong = (path: readonly PropertyKey[], detail: string): Explained => ({
  path,
  kind: 'wrong',
  detail,
})

/**
 * Says what is wrong in a sentence that a model can act on: which field, what it is for, what it must be,
 * and which name was probably meant. `given` is what was parsed, `schema` what it was parsed by.
 */
export const explainIssue = (
  issue: Issue,
  given: unknown,
  schema: JsonSchema,
  before: readonly PropertyKey[] = [],
): readonly Explained[] => {
  const path = [...before, ...issue.path]
  const value = valueAt(given, path)
  const field = schemaAt(schema, path)
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsOf(field)
    const allowed = known.length > 0 ? `Known here: ${known.join(', ')}.` : 'Nothing is known here.'
    return issue.keys.map((key) => ({
      path: [...path, key],
      kind: 'unknown',
      detail: `is not known.${didYouMean(key, known)} ${allowed}`,
    }))
  }
  const isRefined = issue.code === 'custom' && issue.message !== 'is required'
  if (value === undefined && path.length > 0 && !isRefined) {
    return [{ path, kind: 'missing', detail: `is required${purposeOf(field)}.` }]
  }
  switch (issue.code) {
    case 'invalid_type': {
      const types = typesOf(field)
      const expected = types.length > 0 ? types : [issue.expected]
      return [
        wrong(path, `must be ${typeText(expected)}, not ${kindOf(value)}${purposeOf(field)}.`),
      ]
    }
    case 'invalid_value':
      return [wrong(path, choiceText(issue.values, value))]
    case 'too_big':
    case 'too_small':
      return [wrong(path, `${boundText(issue)}${purposeOf(field)}.`)]
    case 'invalid_format':
      return [wrong(path, `${formatText(issue)}${purposeOf(field)}.`)]
    case 'invalid_union': {
      const branch = meantBranch(issue)
      if (branch) return branch.flatMap((inner) => explainIssue(inner, given, schema, path))
      const [form] = issue.errors.flat().filter((inner) => inner.code === 'invalid_format')
      if (form && typeof value === 'string') return explainIssue(form, given, schema, path)
      const types = typesOf(field)
      const must =
        types.length > 0 ? `must be ${typeText(types)}` : 'has none of the forms it may have'
      return [wrong(path, `${must}${purposeOf(field)}.`)]
    }
    default:
      return [wrong(path, `${issue.message.replace(/\.$/, '')}.`)]
  }
}
