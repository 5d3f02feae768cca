import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { parseUrl, portOf, unbracket } from '../domain/web-address.ts'
import type { OutboundRequest, OutboundResponse } from '../ports/outbound.ts'
import { Deadline } from './deadline.ts'
import { acceptedEncodings, decoded, encodingOf } from './decode.ts'
import type { Dialling } from './dial.ts'
import { createDialler, dial } from './dial.ts'
import { failureOf } from './failure.ts'
import { checkHeaders, joinedHeaders } from './headers.ts'
import type { KeptConnections, Target } from './kept-connections.ts'
import { type Hop, nextHop } from './redirect.ts'
import { send } from './send.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const redirectsMax = 5

const refuse = (type: 'RequestNotAllowed' | 'UrlNotAllowed', detail: string): never => {
  throw new GatehouseError(type, { detail })
}

const firstHop = ({ url, method, headers, body }: OutboundRequest): Hop => {
  const name = method.toUpperCase()
  if (!methods.has(name)) refuse('RequestNotAllowed', `${[...methods].join(', ')} are the methods`)
  return { url: parseUrl(url), method: name, headers: checkHeaders(headers), body }
}

const assertAllowed = ({ url }: Hop, request: OutboundRequest, dialling: Dialling): void => {
  if (request.https_only && url.protocol !== 'https:')
    refuse('UrlNotAllowed', 'it must begin with https://')
  const port = portOf(url)
  if (!dialling.isOpenPort(port) && !dialling.guard.listsPort(port))
    refuse('UrlNotAllowed', `the port ${port} is not one that an operator opened`)
  request.allows?.(new URL(url))
}

/** Credentials of this origin alone. Made anew for each hop, and only here. */
const credentialsFor = ({ url }: Hop, request: OutboundRequest) => {
  const query = request.credential_query?.(new URL(url)) ?? {}
  const headers = checkHeaders(request.credentials?.(new URL(url)) ?? {})
  const added = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='))
  const search = [...(url.search === '' ? [] : [url.search.slice(1)]), ...added].join('&')
  return {
    headers,
    path: url.pathname + (search === '' ? '' : `?${search}`),
    values: [...Object.values(query), ...Object.values(headers)],
  }
}

const decodedOr = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** A host that hands its own secret on to another by a redirect is not followed. */
const assertKeeps = (from: Hop, to: Hop, values: readonly string[]): void => {
  if (to.url.origin === from.url.origin) return
  const { href } = to.url
  const readings = [href, decodedOr(href), decodedOr(href.replaceAll('+', '%20'))]
  if (values.some((value) => readings.some((text) => text.includes(value))))
    throw new GatehouseError('RedirectRefused', {
      detail: 'it would hand a secret to another host',
    })
}

const messageOf = (hop: Hop, credentials: ReturnType<typeof credentialsFor>) => ({
  path: credentials.path,
  headers: {
    'user-agent': 'gatehouse',
    accept: '*/*',
    // A range counts bytes of what is sent, so it must not be encoded.
    'accept-encoding': 'range' in hop.headers ? 'identity' : acceptedEncodings,
    ...hop.headers,
    ...credentials.headers,
  },
})

/** No more than allowed, told as soon as it is clear. */
async function* limited(body: AsyncIterable<Uint8Array>, bytesMax: number | undefined) {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytesMax !== undefined && bytes > bytesMax)
      throw new GatehouseError('ResponseTooLarge', { limit_bytes: bytesMax })
    yield chunk
  }
}

const hasNoBody = (method: string, status: number): boolean =>
  method === 'HEAD' || status === 204 || status === 304

const responseOf = (
  answer: IncomingMessage,
  hop: Hop,
  request: OutboundRequest,
  deadline: Deadline,
  close: () => Promise<void>,
): OutboundResponse => {
  const host = hop.url.hostname
  const status = answer.statusCode ?? 0
  const headers = joinedHeaders(answer.headersDistinct)
  const encoding = hasNoBody(hop.method, status)
    ? null
    : encodingOf(headers['content-encoding'], host)
  if (encoding !== null) {
    // Encoding headers describe what was sent, not what is read here.
    delete headers['content-encoding']
    delete headers['content-length']
  }
  const length = Number(headers['content-length'] ?? 0)
  if (request.body_bytes_max !== undefined && length > request.body_bytes_max)
    if (!hasNoBody(hop.method, status))
      throw new GatehouseError('ResponseTooLarge', { limit_bytes: request.body_bytes_max })
  async function* read(): AsyncIterable<Uint8Array> {
    try {
      const raw = answer as AsyncIterable<Buffer>
      const plain = encoding === null ? raw : decoded(raw, encoding, host)
      yield* limited(plain, request.body_bytes_max)
    } catch (cause) {
      throw deadline.reason ?? failureOf(cause, host)
    } finally {
      await close()
    }
  }
  return {
    status,
    headers,
    url: hop.url.href,
    body: read(),
    [Symbol.asyncDispose]: close,
  }
}

export const targetOf = (url: URL): Target => ({
  host: unbracket(url.hostname),
  port: portOf(url),
  protocol: url.protocol === 'https:' ? url.protocol : 'http:',
})

/** A connection that is kept is used again once its answer has come whole, and ended before. */
const leave = (answer: IncomingMessage): void => {
  if (answer.complete) answer.resume()
  else answer.destroy()
}

/** Where an answer sends a request on to; null where it is the end. */
const whereNext = (answer: IncomingMessage, hop: Hop, request: OutboundRequest): Hop | null => {
  if (request.redirects_max === 0) return null
  const [location, ...more] = answer.headersDistinct['location'] ?? []
  const status = answer.statusCode ?? 0
  return nextHop(
    hop,
    { status, location: more.length > 0 ? [location ?? '', ...more] : location },
    request,
  )
}

/**
 * Sends a request and follows where it may. Each connection is its own, or one of those that the caller keeps: none is
 * shared with another caller.
 */
export const sendRequest = async (
  request: OutboundRequest,
  dialling: Dialling,
  signal: AbortSignal,
  kept: KeptConnections | null = null,
): Promise<OutboundResponse> => {
  let hop = firstHop(request)
  const deadline = new Deadline(request.timeout_ms, signal)
  let end: () => void = () => {}
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    deadline.clear()
    end()
  }
  try {
    const connector = await createDialler(dialling)
    for (let followed = 0; ; followed += 1) {
      assertAllowed(hop, request, dialling)
      const credentials = credentialsFor(hop, request)
      const target = targetOf(hop.url)
      const over = kept?.serves(target) ? kept : await dial(connector, target, deadline.signal)
      if (over !== kept) end = () => void (over as Socket).destroy()
      const answer = await send(over, hop, messageOf(hop, credentials), deadline.signal)
      if (over === kept) end = () => leave(answer)
      const next = whereNext(answer, hop, request)
      if (next === null) return responseOf(answer, hop, request, deadline, close)
      assertKeeps(hop, next, credentials.values)
      if (followed >= Math.min(request.redirects_max, redirectsMax))
        throw new GatehouseError('RedirectRefused', {
          detail: `it is one more than the ${Math.min(request.redirects_max, redirectsMax)} allowed`,
        })
      end()
      hop = next
    }
  } catch (cause) {
    await close()
    throw deadline.reason ?? failureOf(cause, hop.url.hostname)
  }
}
