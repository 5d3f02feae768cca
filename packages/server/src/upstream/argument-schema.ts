import type { Explained } from '@gatehouse/contract/explain-issue'
import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import type { JsonObject } from '../ports/json.ts'
import type { CompiledSchema } from '../ports/upstream.ts'

const bytesMax = 256 * 1024
const depthMax = 40
/** Schemas that a value may be checked against at most, references followed. */
const expandedMax = 20_000
const problemsMax = 20

type Schema = { readonly [keyword: string]: unknown }
type Check = (given: unknown) => readonly Explained[]

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const depthOf = (value: unknown, depth = 1): number => {
  if (typeof value !== 'object' || value === null || depth > depthMax) return depth
  return Math.max(depth, ...Object.values(value).map((inner) => depthOf(inner, depth + 1)))
}

/** Keywords that hold values, not schemas. */
const valueKeywords: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'default',
  'examples',
  'required',
])

/** Not checked here: the first costs the square of a list, the others name places elsewhere. */
const dropped: ReadonlySet<string> = new Set([
  ...['uniqueItems', '$id', 'id', '$schema', '$anchor', '$dynamicAnchor', '$vocabulary', 'format'],
])

const withoutCostly = (schema: unknown, isMap = false): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => withoutCostly(item))
  if (!isSchema(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, inner]) => {
      if (isMap) return [[keyword, withoutCostly(inner)]]
      if (dropped.has(keyword)) return []
      if (valueKeywords.has(keyword)) return [[keyword, inner]]
      return [[keyword, withoutCostly(inner, mapKeywords.has(keyword))]]
    }),
  )
}

/** Keywords whose members are names, each with a schema. */
const mapKeywords: ReadonlySet<string> = new Set([
  ...[
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
    'dependencies',
  ],
])

const atPointer = (root: Schema, reference: string): unknown => {
  let at: unknown = root
  for (const part of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = isSchema(at) || Array.isArray(at) ? (at as Schema)[key] : undefined
  }
  return at
}

/**
 * How many schemas one value may meet, each reference counted as what it leads to; Infinity for one that leads back to
 * itself, which a deep value could make take for ever.
 */
const expandedSize = (root: Schema): number => {
  const known = new Map<string, number>()
  const sizeOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0
    let sum = 1
    for (const [keyword, inner] of Object.entries(value)) {
      if (keyword === '$ref' && typeof inner === 'string') sum += referenced(inner)
      else if (keyword !== '$defs' && keyword !== 'definitions') sum += sizeOf(inner)
    }
    return sum
  }
  const referenced = (reference: string): number => {
    const before = known.get(reference)
    if (before !== undefined) return before
    known.set(reference, Number.POSITIVE_INFINITY)
    const size = sizeOf(atPointer(root, reference))
    known.set(reference, size)
    return size
  }
  return sizeOf(root)
}

/** Why a schema can't be used; null where it can. */
const problemOf = (schema: JsonObject): string | null => {
  if (JSON.stringify(schema).length > bytesMax)
    return `its schema is larger than ${bytesMax / 1024} KiB`
  if (depthOf(schema) > depthMax) return `its schema is nested deeper than ${depthMax} levels`
  const type = schema['type']
  if (type !== undefined && type !== 'object') return 'its schema takes no object'
  const references = JSON.stringify(schema).match(/"\$(?:dynamicR|r)ef":"(?!#)[^"]*"/)
  if (references) return 'its schema refers to another document'
  return null
}

/** A pattern takes time linear in the text, or is not checked here: the server checks it again. */
const linearPattern: NonNullable<NonNullable<Options['code']>['regExp']> = Object.assign(
  (source: string) => {
    let expression: RE2JS | null = null
    try {
      expression = RE2JS.compile(source)
      if (expression.programSize() > 500) expression = null
    } catch {
      // Look-around and the like, which no engine without backtracking has.
    }
    return { test: (text: string) => expression === null || expression.test(text) }
  },
  { code: 'linearPattern' },
)

const options: Options = {
  strict: false,
  allErrors: true,
  inlineRefs: false,
  logger: false,
  validateSchema: false,
  messages: true,
  code: { regExp: linearPattern as never },
}

const isOlder = (schema: Schema): boolean => {
  const named = schema['$schema']
  return typeof named === 'string' && /draft-0[4-7]/.test(named)
}

const pathOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

const explained = ({ instancePath, keyword, params, message }: ErrorObject): Explained => {
  const path = pathOf(instancePath)
  if (keyword === 'required')
    return { path: [...path, params['missingProperty']], kind: 'missing', detail: 'is required.' }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params['additionalProperty'] ?? params['unevaluatedProperty']
    return { path: [...path, name], kind: 'unknown', detail: 'is not known.' }
  }
  const values = keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues'])}` : ''
  return { path, kind: 'wrong', detail: `${message ?? 'is not allowed'}${values.slice(0, 500)}.` }
}

const anyObject: Check = (given) =>
  isSchema(given) ? [] : [{ path: [], kind: 'wrong', detail: 'must be an object.' }]

const compile = (schema: JsonObject): Check => {
  const usable = withoutCostly(schema) as Schema
  if (expandedSize(usable) > expandedMax) return anyObject
  const ajv = isOlder(schema) ? new Ajv(options) : new Ajv2020(options)
  const validate = ajv.compile({ type: 'object', ...usable })
  return (given) => {
    if (validate(given)) return []
    const errors = validate.errors ?? []
    // Of alternatives the branches explain more than the word that none of them fits.
    const telling = errors.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'oneOf')
    return (telling.length > 0 ? telling : errors).slice(0, problemsMax).map(explained)
  }
}

/**
 * The check of arguments against a schema that a server sent; see `UpstreamSchemas`. A schema that leads back to
 * itself is not checked here, but by the server alone.
 * @SECURITY Bounded in size, depth and time, whatever the server sends; argument-schema.test.ts.
 */
export const compileSchema = (schema: JsonObject): CompiledSchema => {
  const problem = problemOf(schema)
  if (problem !== null) return { kind: 'unusable', problem }
  let check: Check | undefined
  const compiled = (): Check => {
    try {
      return compile(schema)
    } catch {
      // A schema that can't be compiled says nothing; the server checks the arguments itself.
      return anyObject
    }
  }
  return { kind: 'usable', check: (given) => (check ??= compiled())(given) }
}
