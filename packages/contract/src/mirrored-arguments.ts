/** An argument of a tool that clients over HTTP say in a header, too: `x-mcp-header` of MCP 2026-07-28. */
export type MirroredArgument = {
  /** Names of members, from the arguments down to the value. */
  readonly path: readonly string[]
  /** Name that the schema gives; the header has a prefix before it. */
  readonly header: string
  readonly type: 'string' | 'integer' | 'boolean'
}

export const mirroredKeyword = 'x-mcp-header'

const prefix = 'Mcp-Param-'
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
const depthMax = 64
/** Of the headers of one call together: many servers and proxies take no request with more than 8 KiB of them. */
const headerBytesMax = 8_000

/** Keywords whose values are no schemas, whatever they hold. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])
/** Keywords whose members are named by whoever wrote the schema. */
const mapKeywords: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
])

type Members = Readonly<Record<string, unknown>>
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class Misplaced extends Error {}

/** Collects annotations. Raises `Misplaced` for one that makes the whole definition invalid. */
const collect = (
  schema: unknown,
  /** Null below anything but `properties`. */
  path: readonly string[] | null,
  depth: number,
  found: MirroredArgument[],
): void => {
  if (depth > depthMax) throw new Misplaced()
  if (Array.isArray(schema)) {
    for (const item of schema) collect(item, null, depth + 1, found)
    return
  }
  if (!isMembers(schema)) return
  if (Object.hasOwn(schema, mirroredKeyword)) found.push(annotationIn(schema, path))
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === mirroredKeyword || dataKeywords.has(keyword)) continue
    if (!mapKeywords.has(keyword) || !isMembers(value)) collect(value, null, depth + 1, found)
    else
      for (const [name, inner] of Object.entries(value))
        collect(inner, keyword === 'properties' && path ? [...path, name] : null, depth + 1, found)
  }
}

const annotationIn = (schema: Members, path: readonly string[] | null): MirroredArgument => {
  const { [mirroredKeyword]: header, type } = schema
  const isPlaced = path !== null && path.length > 0
  if (!isPlaced || typeof header !== 'string' || !token.test(header) || !types.has(type))
    throw new Misplaced()
  return { path, header, type: type as MirroredArgument['type'] }
}

/** Annotated arguments of a tool; none where one annotation is wrong, which makes all of them void. */
export const mirroredArguments = (schema: unknown): readonly MirroredArgument[] => {
  const found: MirroredArgument[] = []
  try {
    collect(schema, [], 0, found)
  } catch (thrown) {
    if (thrown instanceof Misplaced) return []
    throw thrown
  }
  const names = new Set(found.map(({ header }) => header.toLowerCase()))
  return names.size === found.length ? found : []
}

/** Text of a value in its header; null for one that no header says. */
const textOf = (value: unknown): string | null => {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  const isSaid = typeof value === 'number' && Number.isFinite(value)
  return isSaid && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? String(value) : null
}

const valueAt = (args: unknown, path: readonly string[]): unknown => {
  let value = args
  for (const name of path) {
    if (!isMembers(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/
const wrapped = /^=\?base64\?(.*)\?=$/s

/** Value of a header that says this text, whatever characters it has. */
export const headerValue = (text: string): string => {
  if (plain.test(text) && !wrapped.test(text)) return text
  const bytes = new TextEncoder().encode(text)
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''))}?=`
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Text that the value of a header says; null where it is not one. */
const textIn = (value: string): string | null => {
  const inner = wrapped.exec(value)?.[1]
  if (inner === undefined) return value
  if (!base64.test(inner)) return null
  const bytes = Uint8Array.from(atob(inner), (character) => character.codePointAt(0) ?? 0)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

type ArgumentHeader = {
  readonly path: readonly string[]
  readonly name: string
  readonly value: string
}

const headersOf = (
  mirrored: readonly MirroredArgument[],
  args: unknown,
): readonly ArgumentHeader[] =>
  mirrored.flatMap(({ path, header }) => {
    const text = textOf(valueAt(args, path))
    if (text === null) return []
    // Encoding takes time, and what is too long already is sent in no header.
    const value = text.length > headerBytesMax ? text : headerValue(text)
    return [{ path, name: `${prefix}${header}`, value }]
  })

const isTooLong = (headers: readonly ArgumentHeader[]): boolean =>
  headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0) > headerBytesMax

/** The longest argument of a call whose headers are too long together, with the reason; null where they are not. */
export const tooLongForHeaders = (
  mirrored: readonly MirroredArgument[],
  args: unknown,
): { readonly path: readonly string[]; readonly detail: string } | null => {
  const headers = headersOf(mirrored, args)
  if (!isTooLong(headers)) return null
  const longest = headers.toSorted((a, b) => b.value.length - a.value.length)[0]
  if (!longest) return null
  const { path, name } = longest
  const detail = `is too long for the header ${name}, in which its server wants it as well: such headers may have ${headerBytesMax} bytes together.`
  return { path, detail }
}

/** Headers of a call over HTTP beside its body; none where they are too long, and no server takes such a call. */
export const mirroredHeaders = (
  mirrored: readonly MirroredArgument[],
  args: unknown,
): Readonly<Record<string, string>> => {
  const headers = headersOf(mirrored, args)
  return isTooLong(headers)
    ? {}
    : Object.fromEntries(headers.map(({ name, value }) => [name, value]))
}

const decimal = /^-?\d+(?:\.\d+)?$/

const isSame = ({ type }: MirroredArgument, said: string, value: unknown): boolean =>
  type === 'integer' && typeof value === 'number' && decimal.test(said)
    ? Number(said) === value
    : said === textOf(value)

/**
 * The first header that does not say what the body says; null where each does, and for arguments that are too long for
 * headers: no tool takes those.
 */
export const mirroredMismatch = (
  mirrored: readonly MirroredArgument[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
): { readonly header: string; readonly detail: string } | null => {
  if (isTooLong(headersOf(mirrored, args))) return null
  for (const one of mirrored) {
    const value = valueAt(args, one.path)
    if (textOf(value) === null) continue
    const header = `${prefix}${one.header}`
    const said = headerOf(header.toLowerCase())
    const member = one.path.join('.')
    if (said === undefined) return { header, detail: `${header} is missing beside ${member}` }
    const text = textIn(said)
    if (text === null) return { header, detail: `${header} is not encoded as it has to be` }
    if (!isSame(one, text, value))
      return { header, detail: `${header} says something else than ${member}` }
  }
  return null
}
