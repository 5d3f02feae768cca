import { request as begin, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { openRequest } from '../connections/open-request.ts'
import { KeptConnections } from './kept-connections.ts'
import type { Hop } from './redirect.ts'

const headBytesMax = 32 * 1024

/** Node leaves it out for some methods, and the body would then be no part of the request. */
const lengthOf = ({ body }: Hop): Record<string, string> =>
  body === null ? {} : { 'content-length': String(body.length) }

/**
 * One request: over a connection that ends with it, or over one of those that are kept. By the parser of Node: that of
 * undici has a check that a server can make fail, by closing while nobody reads, and nothing catches it (answers.test.ts).
 */
export const send = async (
  over: Socket | KeptConnections,
  hop: Hop,
  message: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const kept = over instanceof KeptConnections ? over : null
  const request = await openRequest(() => {
    kept?.check()
    return begin({
      ...(kept ? { agent: kept } : { createConnection: () => over as Socket }),
      method: hop.method,
      path: message.path,
      headers: { host: hop.url.host, ...message.headers, ...lengthOf(hop) },
      setHost: false,
      maxHeaderSize: headBytesMax,
      insecureHTTPParser: false,
      signal,
    })
  })
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    // A tunnel is handed over paused, so that nothing of it is lost before somebody listens.
    request.socket?.resume()
    request.on('response', (answer) => {
      kept?.heard(answer.socket, answer.headersDistinct['keep-alive']?.at(-1))
      // A body that is never read may still fail.
      answer.on('error', () => {})
      resolve(answer)
    })
    request.end(hop.body ?? undefined)
  })
}
