type Schema = { readonly [keyword: string]: unknown }

const anyType = ['object', 'array', 'string', 'number', 'boolean', 'null']

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const typeOfValue = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** The types that a schema lets pass, from its alternatives and values where it names none. */
const typesOf = (schema: Schema): readonly string[] => {
  const { type, anyOf, oneOf, enum: values, const: value } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type as string[]
  if (Array.isArray(values)) return values.map(typeOfValue)
  if (value !== undefined) return [typeOfValue(value)]
  const options = anyOf ?? oneOf
  return Array.isArray(options) ? options.filter(isSchema).flatMap(typesOf) : anyType
}

const typed = (schema: Schema): Schema => {
  const [first, ...others] = new Set(typesOf(schema))
  return { ...inner(schema), type: others.length === 0 ? first : [first, ...others] }
}

const inner = (schema: Schema): Schema => ({
  ...schema,
  ...(isSchema(schema['properties'])
    ? {
        properties: Object.fromEntries(
          Object.entries(schema['properties']).map(([name, property]) => [
            name,
            typed(property as Schema),
          ]),
        ),
      }
    : {}),
  ...(isSchema(schema['items']) ? { items: inner(schema['items']) } : {}),
  ...(Array.isArray(schema['anyOf']) ? { anyOf: schema['anyOf'].map(inner) } : {}),
})

/** Names a type for each property of a schema, however deep: many clients know no other way to read one. */
export const typedSchema = (schema: Schema): Schema => typed(schema)
