import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import type { Answer, Fetch } from '@gatehouse/rest-client'

async function readText(message: IncomingMessage): Promise<string> {
  message.setEncoding('utf8')
  let text = ''
  for await (const chunk of message) text += chunk as string
  return text
}

function answerOf(message: IncomingMessage): Answer {
  const status = message.statusCode ?? 0
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: {
      get(name) {
        const value = message.headers[name.toLowerCase()]
        return value === undefined ? null : String(value)
      },
    },
    get body() {
      return Readable.toWeb(message) as ReadableStream<Uint8Array>
    },
    text: () => readText(message),
  }
}

/**
 * `fetch` for one server of this machine. Node loads the global one at its first use, which takes longer
 * than the rest of `gatehouse status`. Redirects are not followed: the token is for one server only.
 */
export const httpFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(signal ? { signal } : {}),
    })
    sent.once('response', (message) => resolve(answerOf(message)))
    sent.once('error', (cause) =>
      reject(signal?.aborted ? cause : new TypeError('fetch failed', { cause })),
    )
    sent.end(body)
  })
