type Schema = { readonly [keyword: string]: unknown }

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const schemasOf = (value: unknown): readonly Schema[] =>
  Array.isArray(value) ? value.filter(isSchema) : []

const each = (value: unknown, shorten: (schema: Schema) => Schema): Schema =>
  Object.fromEntries(
    Object.entries(isSchema(value) ? value : {}).map(([name, inner]) => [
      name,
      shorten(isSchema(inner) ? inner : {}),
    ]),
  )

const alternatives = (schema: Schema): readonly Schema[] =>
  schemasOf(schema['anyOf'] ?? schema['oneOf'])

const kept = (schema: Schema, keywords: readonly string[]): Schema =>
  Object.fromEntries(keywords.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])))

/** Larger ones, such as sizes in bytes, are seldom reached, and the gate names them then. */
const ceilingMax = 10_000

const ceiling = ({ maximum }: Schema): Schema =>
  typeof maximum === 'number' && maximum <= ceilingMax ? { maximum } : {}

/** A default of nothing, or false, says no more than that the argument may be left out. */
const toldDefault = (schema: Schema): Schema => {
  const value = schema['default']
  const empty =
    value === undefined ||
    value === false ||
    value === '' ||
    /^(\[\]|\{\})$/.test(JSON.stringify(value))
  return empty ? {} : { default: value }
}

/** The first sentence, as far as a listing goes; `agent.capabilities` with a name tells all. */
export const firstSentence = (text: string): string =>
  text.split(/(?<=[.!?])\s+(?=[A-Z0-9`"'])/)[0] ?? text

const purposeOf = ({ description }: Schema): Schema =>
  typeof description === 'string'
    ? { description: firstSentence(description).replace(/\.$/, '') }
    : {}

/** Of alternatives like these, the types and the description around them say everything. */
const saysItsTypeOnly = (schema: Schema): boolean =>
  Object.keys(schema).every((keyword) => keyword === 'type' || keyword === 'description')

/** Items of a list that has a description of its own are not described again. */
const shortItems = (items: Schema, { description }: Schema): Schema => {
  const { description: own, ...rest } = shortInput(items)
  return own === undefined || description !== undefined ? rest : { description: own, ...rest }
}

const isOpen = (schema: unknown): boolean => !isSchema(schema) || Object.keys(schema).length === 0

/**
 * An argument as a model needs it: type, choices, default, ceiling and what it is for. Lengths and
 * patterns are checked by the gate, which says what is wrong; here they would cost more than they tell.
 */
export const shortInput = (schema: Schema): Schema => {
  const { properties, required, items, additionalProperties: others } = schema
  const options = alternatives(schema).map(shortInput)
  return {
    ...kept(schema, ['type', 'enum', 'const']),
    ...toldDefault(schema),
    ...ceiling(schema),
    ...purposeOf(schema),
    ...(isSchema(properties) ? { properties: each(properties, shortInput) } : {}),
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
    ...(isOpen(items) ? {} : { items: shortItems(items as Schema, schema) }),
    ...(isOpen(others) ? {} : { additionalProperties: shortInput(others as Schema) }),
    ...(options.every(saysItsTypeOnly) ? {} : { anyOf: options }),
  }
}
