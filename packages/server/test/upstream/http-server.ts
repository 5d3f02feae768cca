import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'

export type HttpServer = AsyncDisposable & {
  readonly url: string
  /** As an operator lists an address of the own network. */
  readonly target: string
  /** Connections that were opened, and requests that came over them. */
  readonly counts: { connections: number; requests: number }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** What is answered in place of the library, such as what it does not know; undefined for what it answers itself. */
export type Intercept = (request: {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}) => object | undefined

/** An MCP server of the official library over HTTP, in both eras. It is told the headers of each request. */
export const serveMcp = async (
  factory: (headers: IncomingMessage['headers']) => McpServer,
  intercept: Intercept = () => undefined,
): Promise<HttpServer> => {
  const counts = { connections: 0, requests: 0 }
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    counts.requests += 1
    const { method = 'GET' } = request
    const body = method === 'POST' ? await bodyOf(request) : null
    const message = body ? JSON.parse(body) : {}
    const result = message.method && intercept(message)
    if (result) {
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    }
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const asked = new Request(`http://${request.headers.host}${request.url}`, {
      ...{ method, body, signal: gone.signal },
      headers: headers as [string, string][],
    })
    const answer = await createMcpHandler(() => factory(request.headers)).fetch(asked)
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    if (answer.body === null) response.end()
    else await pipeline(answer.body, response).catch(() => {})
  }
  const server = createServer((request, response) => void answerTo(request, response))
  server.on('connection', () => {
    counts.connections += 1
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${target}/mcp`,
    target,
    counts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
