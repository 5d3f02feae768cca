import fc from 'fast-check'

/** As much of JSON Schema as the REST API's document uses. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Any JSON, of a size that says something. */
export const anyJson: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 3 })

const names = ['alpha', 'nobody', 'filesystem.read', 'a', 'ana', '*', 'state.*']

const textOf = ({ pattern, minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<string> => {
  const plain = fc.oneof(
    fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }),
    fc.constantFrom(...names),
  )
  if (pattern === undefined) return plain
  try {
    return fc.oneof({ weight: 4, arbitrary: fc.stringMatching(new RegExp(pattern)) }, plain)
  } catch {
    // A pattern that no generator understands.
    return plain
  }
}

const objectOf = (schema: Schema, all: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> => {
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, valueOf(member, all)] as const,
  )
  const known = fc.record(Object.fromEntries(members), {
    requiredKeys: [...(schema.required ?? [])].filter((name) => schema.properties?.[name]),
  })
  const more = schema.additionalProperties
  if (typeof more !== 'object') return known
  return fc
    .tuple(
      known,
      fc.dictionary(fc.constantFrom(...names, 'x y'), valueOf(more, all), { maxKeys: 3 }),
    )
    .map(([own, added]) => ({ ...added, ...own }))
}

const arrayOf = (
  { items = {}, minItems = 0, maxItems = 5 }: Schema,
  all: Readonly<Record<string, Schema>>,
): fc.Arbitrary<unknown> =>
  fc.array(valueOf(items, all), {
    minLength: minItems,
    maxLength: Math.max(minItems, Math.min(maxItems, 5)),
  })

const numberOf = ({ minimum = -1_000, maximum = 1_000_000_000 }: Schema): fc.Arbitrary<number> =>
  fc.integer({ min: Math.ceil(minimum), max: Math.floor(Math.min(maximum, 2 ** 31)) })

/** Of a schema that stands elsewhere, is one of several or names its values; null for one with a type. */
const composedOf = (
  schema: Schema,
  all: Readonly<Record<string, Schema>>,
): fc.Arbitrary<unknown> | null => {
  const { $ref, anyOf, oneOf = anyOf, allOf } = schema
  if ($ref !== undefined) return valueOf(all[$ref.split('/').at(-1) ?? ''] ?? {}, all)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (oneOf) return fc.oneof(...oneOf.map((one) => valueOf(one, all)))
  return allOf?.[0] ? valueOf(allOf[0], all) : null
}

/** Values that fit a schema, nearly always: what JSON Schema can't say is left to chance. */
export const valueOf = (
  schema: Schema,
  all: Readonly<Record<string, Schema>>,
): fc.Arbitrary<unknown> => {
  const { type } = schema
  const composed = composedOf(schema, all)
  if (composed) return composed
  if (typeof type === 'object')
    return fc.oneof(...type.map((one) => valueOf({ ...schema, type: one }, all)))
  switch (type) {
    case 'object':
      return objectOf(schema, all)
    case 'array':
      return arrayOf(schema, all)
    case 'string':
      return textOf(schema)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return anyJson
  }
}
