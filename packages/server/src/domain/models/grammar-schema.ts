type Schema = Readonly<Record<string, unknown>>
type Verdict =
  | { readonly kind: 'fits'; readonly schema: Schema }
  | { readonly kind: 'refused'; readonly detail: string }

/** Say something to people, and bind nothing. */
const notes = [
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'strict',
]
const known: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'format'],
  number: [],
  integer: [],
  boolean: [],
  null: [],
}
const formats = ['date-time', 'date', 'time']
const depthMax = 32

class Refused extends Error {}

const refuse = (path: string, detail: string): never => {
  throw new Refused(`${path === '' ? 'json_schema' : path} ${detail}`)
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLiteral = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

const onlyKeys = (schema: Schema, path: string, keys: readonly string[]): void => {
  for (const key of Object.keys(schema))
    if (![...keys, ...notes, '$defs'].includes(key)) refuse(`${path}/${key}`, 'is not supported')
}

type At = { readonly path: string; readonly depth: number; readonly defs: Schema }

const below = ({ path, depth, defs }: At, step: string): At => ({
  path: `${path}/${step}`,
  depth: depth + 1,
  defs,
})

const all = (value: unknown, at: At, name: string): Schema[] => {
  if (!Array.isArray(value) || value.length === 0)
    return refuse(`${at.path}/${name}`, 'must be a list')
  return value.map((one, i) => fitted(one, below(at, `${name}/${i}`)))
}

const mapped = (value: unknown, at: At, name: string): Schema => {
  if (!isSchema(value)) return refuse(`${at.path}/${name}`, 'must be an object')
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, fitted(one, below(at, `${name}/${key}`))]),
  )
}

function objectOf(schema: Schema, at: At): Schema {
  const properties =
    schema['properties'] === undefined ? {} : mapped(schema['properties'], at, 'properties')
  const required = schema['required'] ?? []
  if (!Array.isArray(required)) return refuse(`${at.path}/required`, 'must be a list')
  const missing = required.find((name) => !Object.hasOwn(properties, String(name)))
  if (missing !== undefined)
    refuse(`${at.path}/required`, `names ${String(missing)}, which has no schema`)
  const more = schema['additionalProperties']
  const isOpen = more === undefined && Object.keys(properties).length === 0
  return {
    ...schema,
    properties,
    // Without properties of its own it would be the empty object alone.
    ...(isOpen ? { additionalProperties: true } : {}),
    ...(isSchema(more)
      ? { additionalProperties: fitted(more, below(at, 'additionalProperties')) }
      : {}),
  }
}

const arrayOf = (schema: Schema, at: At): Schema => ({
  ...schema,
  ...(schema['items'] === undefined ? {} : { items: fitted(schema['items'], below(at, 'items')) }),
  ...(schema['prefixItems'] === undefined
    ? {}
    : { prefixItems: all(schema['prefixItems'], at, 'prefixItems') }),
})

function typed(schema: Schema, at: At): Schema {
  const { type } = schema
  const types = Array.isArray(type) ? type : [type]
  for (const one of types)
    if (typeof one !== 'string' || !Object.hasOwn(known, one))
      refuse(`${at.path}/type`, type === undefined ? 'is missing' : 'names no type of JSON')
  if (Array.isArray(type) && types.some((one) => one === 'object' || one === 'array'))
    refuse(`${at.path}/type`, 'must name objects and arrays by anyOf')
  onlyKeys(schema, at.path, ['type', ...(Array.isArray(type) ? [] : (known[String(type)] ?? []))])
  if (schema['format'] !== undefined && !formats.some((one) => one === schema['format']))
    refuse(`${at.path}/format`, `must be one of ${formats.join(', ')}`)
  if (type === 'object') return objectOf(schema, at)
  return type === 'array' ? arrayOf(schema, at) : schema
}

function formOf(schema: Schema, at: At): Schema {
  const { $ref } = schema
  if ($ref !== undefined) {
    onlyKeys(schema, at.path, ['$ref'])
    const name = typeof $ref === 'string' ? /^#\/\$defs\/(.+)$/.exec($ref)?.[1] : undefined
    if (name === undefined || !Object.hasOwn(at.defs, name))
      refuse(`${at.path}/$ref`, 'must lead to one of the $defs of the whole schema')
    return schema
  }
  const choice = schema['anyOf'] === undefined ? 'oneOf' : 'anyOf'
  if (schema[choice] !== undefined) {
    onlyKeys(schema, at.path, [choice])
    const { anyOf: _, ...rest } = schema
    // One of them is what comes of either.
    return { ...rest, oneOf: all(schema[choice], at, choice) }
  }
  if (schema['const'] !== undefined) {
    onlyKeys(schema, at.path, ['const', 'type'])
    if (!isLiteral(schema['const'])) refuse(`${at.path}/const`, 'must be no object or list')
    return schema
  }
  const options = schema['enum']
  if (options === undefined) return typed(schema, at)
  onlyKeys(schema, at.path, ['enum', 'type'])
  if (!Array.isArray(options) || options.length === 0 || !options.every(isLiteral))
    refuse(`${at.path}/enum`, 'must be a list of texts, numbers, booleans or null')
  return schema
}

function fitted(schema: unknown, at: At): Schema {
  if (!isSchema(schema)) return refuse(at.path, 'must be an object')
  if (at.depth > depthMax) return refuse(at.path, `is nested deeper than ${depthMax}`)
  if (at.depth > 0 && schema['$defs'] !== undefined)
    refuse(`${at.path}/$defs`, 'must stand at the top of the schema')
  return formOf(schema, at)
}

/**
 * The schema in the form that a grammar is made of. What a grammar cannot hold a model to is refused by its
 * place: the engine itself would leave it out without a word.
 */
export function grammarSchema(schema: Schema): Verdict {
  try {
    const defs = schema['$defs'] ?? {}
    if (!isSchema(defs)) return refuse('/$defs', 'must be an object')
    const at = { path: '', depth: 0, defs }
    const own = fitted(schema, at)
    const named = Object.keys(defs).length === 0 ? {} : { $defs: mapped(defs, at, '$defs') }
    return { kind: 'fits', schema: { ...own, ...named } }
  } catch (cause) {
    if (cause instanceof Refused) return { kind: 'refused', detail: cause.message }
    throw cause
  }
}
