import type { Answer } from './answer.ts'
import {
  InvalidNameError,
  isFields,
  readError,
  UnexpectedAnswerError,
  UnreachableError,
} from './client-error.ts'
import { type OperationId, operations } from './operations.ts'
import { requiredFields } from './required-fields.ts'

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

export type Parts = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * One path segment, from a name that a person or a program gave.
 * @SECURITY URLs resolve the segments `.` and `..` even where they are encoded, so `/api/agents/../pause`
 * would be sent as `/api/pause`; create-client.test.ts fails without this check.
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

function urlOf(baseUrl: string, path: string, { params = {}, query = {} }: Parts): string {
  const filled = path.replaceAll(/:(\w+)/g, (_whole, name: string) => segmentOf(name, params[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value))
  return `${baseUrl.replace(/\/$/, '')}${filled}${search.size > 0 ? `?${search}` : ''}`
}

export type Send = (operation: OperationId, parts?: Parts) => Promise<Answer>

/** Sends one operation and returns an answer that is good; everything else is thrown. */
export function createSend({ baseUrl, token, fetch: send = fetch }: ClientOptions): Send {
  return async (operation, parts = {}) => {
    const [method = 'GET', path = '/'] = operations[operation].split(' ')
    const url = urlOf(baseUrl, path, parts)
    const hasBody = parts.body !== undefined
    const init: FetchInit = {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(hasBody ? { body: JSON.stringify(parts.body) } : {}),
      ...(parts.signal ? { signal: parts.signal } : {}),
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
      throw await readError(response).catch((cause: unknown) => lostOf(url, cause, init.signal))
    return response
  }
}

/** A connection that ended in the middle of an answer. */
const lostOf = (url: string, cause: unknown, signal: AbortSignal | undefined): unknown =>
  signal?.aborted ? cause : new UnreachableError(url, cause)

/** The record that an operation answers. Raises `UnexpectedAnswerError` for anything else. */
export async function readRecord(operation: OperationId, response: Answer): Promise<unknown> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw new UnexpectedAnswerError(operation, 'it ended in the middle.', { cause })
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new UnexpectedAnswerError(operation, 'it is not JSON.', { cause })
  }
  if (!isFields(body)) throw new UnexpectedAnswerError(operation, 'it is not an object.')
  const missing = requiredFields(operation).find((name) => !Object.hasOwn(body, name))
  if (missing !== undefined) throw new UnexpectedAnswerError(operation, `${missing} is missing.`)
  return body
}
