import { InvalidNameError, readError, UnreachableError } from './client-error.ts'
import { type OperationId, operations } from './operations.ts'

/** What is read of an answer: a `Response`, or something lighter in its place. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
  json(): Promise<unknown>
}

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
    if (!response.ok) throw await readError(response)
    return response
  }
}
