import { GatehouseError } from '@gatehouse/contract'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Outbound, OutboundResponse } from '../ports/outbound.ts'

/** Streams of events stay open; each is bounded by the call that it belongs to, or by its session. */
const exchangeMs = 24 * 60 * 60 * 1_000

export type OutboundFetch = {
  /** Headers for an address: empty for all but the origin that they are for. */
  readonly credentials: (to: URL) => Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly bodyBytesMax?: number
}

/** Set by the way out itself. */
const ownHeaders: ReadonlySet<string> = new Set(['host', 'content-length', 'connection'])

const headersOf = (given: RequestInit['headers']): Record<string, string> =>
  Object.fromEntries([...new Headers(given)].filter(([name]) => !ownHeaders.has(name)))

const bodyOf = (body: unknown): Uint8Array | null => {
  if (body === undefined || body === null) return null
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof URLSearchParams) return Buffer.from(body.toString())
  if (body instanceof Uint8Array) return body
  throw new TypeError('the body of this request is of a kind that is not sent')
}

const noBody: ReadonlySet<number> = new Set([101, 204, 205, 304])

const streamOf = (answer: OutboundResponse): ReadableStream<Uint8Array> => {
  const chunks = answer.body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (!done) return controller.enqueue(value)
      controller.close()
      await answer[Symbol.asyncDispose]()
    },
    async cancel() {
      await answer[Symbol.asyncDispose]()
    },
  })
}

/** `fetch` over the one way out. */
export const outboundFetch = (
  outbound: Pick<Outbound, 'request'>,
  { credentials, timeoutMs = exchangeMs, bodyBytesMax }: OutboundFetch,
): FetchLike => {
  const ended = new AbortController()
  return async (given, init) => {
    const url = new URL(given)
    const signal = init?.signal ?? ended.signal
    const answer = await outbound.request(
      {
        url: url.href,
        method: init?.method ?? 'GET',
        headers: headersOf(init?.headers),
        body: bodyOf(init?.body),
        timeout_ms: timeoutMs,
        redirects_max: 0,
        https_only: false,
        credentials,
        ...(bodyBytesMax === undefined ? {} : { body_bytes_max: bodyBytesMax }),
      },
      signal,
    )
    const { status, headers } = answer
    if (noBody.has(status)) {
      await answer[Symbol.asyncDispose]()
      return new Response(null, { status, headers })
    }
    if (status < 200) throw new GatehouseError('ResponseRefused', { detail: `status ${status}` })
    return new Response(streamOf(answer), { status, headers })
  }
}
