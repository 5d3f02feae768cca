// The TypeScript type of a JSON Schema, as far as capabilities need it. A keyword that it does not know is
// refused: a type that says less than the schema would go unnoticed.
const known = new Set([
  ...['type', 'properties', 'additionalProperties', 'required', 'description', 'items'],
  ...['anyOf', 'enum', 'const', 'default', 'propertyNames', 'format', 'pattern', 'readOnly'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
])

const plain = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean' }

const union = (types) => [...new Set(types)].join(' | ')

const doc = (schema, indent) => {
  const { description, default: value } = schema
  const said = [
    description?.replaceAll('*/', '*\\/'),
    value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`,
  ].filter(Boolean)
  return said.length === 0 ? '' : `${indent}/** ${said.join(' ')} */\n`
}

const propertyOf = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const objectType = ({ properties, required = [], additionalProperties: others }, io, indent) => {
  const inner = `${indent}  `
  const names = Object.keys(properties ?? {})
  if (names.length === 0)
    return others === false
      ? 'Record<string, never>'
      : `Record<string, ${rest(others, io, indent)}>`
  const lines = names.map((name) => {
    const schema = properties[name]
    const mark = required.includes(name) ? '' : '?'
    return `${doc(schema, inner)}${inner}${propertyOf(name)}${mark}: ${schemaType(schema, io, inner)}\n`
  })
  if (others !== undefined && others !== false && io === 'output')
    lines.push(`${inner}[name: string]: unknown\n`)
  return `{\n${lines.join('')}${indent}}`
}

const rest = (schema, io, indent) =>
  schema === undefined || schema === true || Object.keys(schema).length === 0
    ? 'unknown'
    : schemaType(schema, io, indent)

const arrayType = ({ items }, io, indent) => {
  const item = rest(items, io, indent)
  const inside = / [|] /.test(item) ? `(${item})` : item
  return io === 'input' ? `readonly ${inside}[]` : `${inside}[]`
}

const namedType = (type, schema, io, indent) => {
  if (type === 'object') return objectType(schema, io, indent)
  if (type === 'array') return arrayType(schema, io, indent)
  if (type === 'null') return 'null'
  if (type in plain) return plain[type]
  throw new Error(`unknown type ${type}`)
}

/** Every alternative of a schema names its own type, so what stands beside `anyOf` adds nothing. */
export const schemaType = (schema, io, indent = '') => {
  const odd = Object.keys(schema).find((keyword) => !known.has(keyword))
  if (odd) throw new Error(`the keyword ${odd} has no type yet`)
  if (schema.anyOf) return union(schema.anyOf.map((one) => schemaType(one, io, indent)))
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === undefined) return 'unknown'
  return union([schema.type].flat().map((type) => namedType(type, schema, io, indent)))
}
