import { headerValue } from '@gatehouse/contract/mirrored-arguments'

type Members = Readonly<Record<string, unknown>>
export type Id = string | number

/** Method, and what the headers of Streamable HTTP are made of. */
type Named = {
  readonly method: string
  readonly params: Members
  /** Version that the message itself names, in the era without a handshake; null before it. */
  readonly version: string | null
  /** The line as it came: what is sent on is never written anew. */
  readonly line: Buffer
}

export type Request = Named & { readonly kind: 'request'; readonly id: Id }
export type Notification = Named & { readonly kind: 'notification' }
export type Message =
  | Request
  | Notification
  /** Several messages in one array; `ids` are those of its requests. */
  | { readonly kind: 'batch'; readonly ids: readonly Id[]; readonly line: Buffer }
  /** An answer of the client: nobody asked it anything. */
  | { readonly kind: 'answer' }
  | { readonly kind: 'refused'; readonly error: string }

export const codes = { parse: -32700, invalidRequest: -32600, internal: -32603 } as const

export type Failure = {
  readonly code: number
  readonly message: string
  readonly data?: Members
}

export const errorText = (id: Id | null, error: Failure): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error })

const refused = (code: number, message: string, id: Id | null = null): Message => ({
  kind: 'refused',
  error: errorText(id, { code, message }),
})

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of the object that a text is; null for any other text. */
export const parseMembers = (text: string): Members | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isMembers(value) ? value : null
  } catch {
    return null
  }
}

/** A number that was not read exactly is no id: it would be answered with another one. */
export const isId = (value: unknown): value is Id =>
  typeof value === 'string' || Number.isSafeInteger(value)

const versionKey = 'io.modelcontextprotocol/protocolVersion'

const readNamed = (value: Members, method: string, line: Buffer): Named => {
  const params = isMembers(value['params']) ? value['params'] : {}
  const meta = isMembers(params['_meta']) ? params['_meta'] : {}
  const version = meta[versionKey]
  return { method, params, version: typeof version === 'string' ? version : null, line }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const parse = (line: Buffer): unknown => {
  try {
    return JSON.parse(utf8.decode(line))
  } catch {
    return undefined
  }
}

/** Kind of a line, as far as the bridge must know; the service says whether it is a good message. */
export function readMessage(line: Buffer): Message {
  const value = parse(line)
  if (value === undefined) return refused(codes.parse, 'Parse error: the line is not valid JSON')
  if (Array.isArray(value)) {
    const ids = value.map((one: unknown) => (isMembers(one) ? one['id'] : undefined)).filter(isId)
    return { kind: 'batch', ids, line }
  }
  if (!isMembers(value))
    return refused(codes.invalidRequest, 'Invalid request: a message must be an object')
  const { id, method } = value
  if (typeof method !== 'string') {
    if ('result' in value || 'error' in value) return { kind: 'answer' }
    const detail = 'Invalid request: method must be a string'
    return refused(codes.invalidRequest, detail, isId(id) ? id : null)
  }
  if (id === undefined) return { kind: 'notification', ...readNamed(value, method, line) }
  if (isId(id)) return { kind: 'request', id, ...readNamed(value, method, line) }
  return refused(codes.invalidRequest, 'Invalid request: id must be a string or an integer')
}

/** Tells the client something by itself. */
export const notificationText = (method: string, params?: Members): string =>
  JSON.stringify({ jsonrpc: '2.0', method, ...(params ? { params } : {}) })

const nameSources: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** Headers in which Streamable HTTP repeats what the message says, in the era without a handshake. */
export function modernHeaders({
  method,
  params,
  version,
}: Named): Readonly<Record<string, string>> {
  const source = nameSources.get(method)
  const name = source === undefined ? undefined : params[source]
  return {
    'mcp-protocol-version': headerValue(version ?? ''),
    'mcp-method': headerValue(method),
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  }
}
