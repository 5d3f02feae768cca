import type { FieldEntry } from '@gatehouse/contract'

export type JsonSchema = { readonly [key: string]: unknown }

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const typeName = (schema: unknown): string => {
  if (!isSchema(schema)) return 'any'
  const { type, items } = schema
  if (Array.isArray(type)) return type.join(' | ')
  if (typeof type === 'string')
    return type === 'array' && isSchema(items) ? `array of ${typeName(items)}` : type
  const options = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(options) ? options.map(typeName).join(' | ') : 'any'
}

const fieldOf = (name: string, property: unknown, required: boolean): FieldEntry => {
  const { default: value, description } = isSchema(property) ? property : {}
  return {
    name,
    type: typeName(property),
    required,
    ...(value === undefined ? {} : { default: value }),
    ...(typeof description === 'string' ? { description } : {}),
  }
}

/** Properties of an object's schema, as listings have them. */
export const fieldsOf = ({ properties, required }: JsonSchema): FieldEntry[] => {
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(isSchema(properties) ? properties : {}).map(([name, property]) =>
    fieldOf(name, property, needed.has(name)),
  )
}
