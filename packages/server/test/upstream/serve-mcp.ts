import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Answers a request in place of the SDK; false leaves it to that. */
export type Instead = (body: string, response: ServerResponse) => boolean

/** A server over HTTP, made with the official SDK, and the requests that it was sent. */
export const serveMcp = async (
  create: () => McpServer,
  instead: Instead = () => false,
): Promise<AsyncDisposable & { readonly url: string; readonly requests: IncomingMessage[] }> => {
  const requests: IncomingMessage[] = []
  const handler = createMcpHandler(create)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(request)
    const { method = 'GET' } = request
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const body = method === 'POST' ? await bodyOf(request) : null
    if (instead(String(body), response)) return
    const answered = await handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method,
        headers: headers as [string, string][],
        body,
      }),
    )
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    if (answered.body === null) response.end()
    else await pipeline(answered.body, response).catch(() => {})
  }
  const server = createServer((request, response) => void answer(request, response))
  // A client keeps connections as long as it is told: longer than any test stands still.
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
