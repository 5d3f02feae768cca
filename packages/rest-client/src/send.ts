import type { StreamKind } from '@gatehouse/contract/routes'
import type { Answer } from './answer.ts'
import {
  InvalidNameError,
  isFields,
  readError,
  UnexpectedAnswerError,
  UnreachableError,
} from './client-error.ts'

export type FetchInit = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** As the global `fetch`, of which only this much is used. Raises TypeError for what happens below HTTP. */
export type Fetch = (url: string, init: FetchInit) => Promise<Answer>

export type ClientOptions = {
  /** Where the API is, without `/api`. */
  readonly baseUrl: string
  /** A user token; left out where `fetch` or a cookie says who asks. */
  readonly token?: string
  readonly fetch?: Fetch
}

/** Facts about a route that a request needs. */
export type RouteEntry = {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Where the input goes that the path does not name. */
  readonly sends?: 'query' | 'body'
  /** Where the input names the version that the record must have. */
  readonly takes?: 'if_match'
  /** A record, unless said. */
  readonly answer?: StreamKind
  /** The fields that every record has, with spaces between them. */
  readonly fields?: string
}

/** Parameters, query and body of a request in one. */
export type Input = Readonly<Record<string, unknown>>

/**
 * One path segment, from a name that a person or a program gave.
 * @SECURITY URLs resolve the segments `.` and `..` even where they are encoded, so `/api/agents/../pause`
 * would be sent as `/api/pause`; client.test.ts fails without this check.
 */
function segmentOf(parameter: string, name: unknown): string {
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..')
    throw new InvalidNameError(parameter, name, 'it can\'t be empty, "." or ".."')
  try {
    return encodeURIComponent(name)
  } catch (cause) {
    throw new InvalidNameError(parameter, name, 'it is not well-formed Unicode', { cause })
  }
}

type Target = { readonly url: string; readonly body?: string }

function targetOf(baseUrl: string, { path, sends, takes }: RouteEntry, input: Input): Target {
  const rest = new Map(Object.entries(input))
  if (takes) rest.delete(takes)
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
    rest.delete(name)
    return segmentOf(name, input[name])
  })
  const url = `${baseUrl.replace(/\/$/, '')}${filled}`
  if (sends === 'body') return { url, body: JSON.stringify(Object.fromEntries(rest)) }
  const search = new URLSearchParams()
  if (sends === 'query')
    for (const [name, value] of rest)
      if (value !== undefined) search.set(name, String(value as string | number))
  return { url: search.size > 0 ? `${url}?${search}` : url }
}

const matchHeader = ({ takes }: RouteEntry, input: Input): Readonly<Record<string, string>> => {
  const version = takes && input[takes]
  return typeof version === 'string' || typeof version === 'number'
    ? { 'if-match': `"${version}"` }
    : {}
}

export type Send = (route: RouteEntry, input?: Input, signal?: AbortSignal) => Promise<Answer>

/** Sends one request and returns an answer that is good; everything else is thrown. */
export function createSend({ baseUrl, token, fetch: send = fetch }: ClientOptions): Send {
  return async (route, input = {}, signal) => {
    const { url, body } = targetOf(baseUrl, route, input)
    const init: FetchInit = {
      method: route.method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...matchHeader(route, input),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    }
    let response: Answer
    try {
      response = await send(url, init)
    } catch (cause) {
      // `fetch` raises TypeError for everything that happens below HTTP.
      if (cause instanceof TypeError) throw new UnreachableError(url, cause)
      throw cause
    }
    if (!response.ok)
      throw await readError(response).catch((cause: unknown) => lostOf(url, cause, signal))
    return response
  }
}

/** A connection that ended in the middle of an answer. */
const lostOf = (url: string, cause: unknown, signal: AbortSignal | undefined): unknown =>
  signal?.aborted ? cause : new UnreachableError(url, cause)

/** The record that a route answers. Raises `UnexpectedAnswerError` for anything else. */
export async function readRecord(
  { name, fields = '' }: RouteEntry,
  response: Answer,
): Promise<unknown> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw new UnexpectedAnswerError(name, 'it ended in the middle.', { cause })
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new UnexpectedAnswerError(name, 'it is not JSON.', { cause })
  }
  if (!isFields(body)) throw new UnexpectedAnswerError(name, 'it is not an object.')
  const missing = fields.split(' ').find((field) => field !== '' && !Object.hasOwn(body, field))
  if (missing !== undefined) throw new UnexpectedAnswerError(name, `${missing} is missing.`)
  return body
}
