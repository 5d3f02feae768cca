import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

export type Asked = {
  readonly method: string
  /** The session that the server gave out, null before. */
  readonly session: string | null
  readonly authorization: string | null
  readonly key: string | null
  readonly socket: Socket
}

export type Certificate = { readonly cert: string; readonly key: string }

type Message = {
  readonly id?: unknown
  readonly method: string
  readonly params?: { readonly arguments?: object }
}

export type SessionServer = AsyncDisposable & {
  readonly url: string
  readonly target: string
  readonly asked: Asked[]
  /** Tools that are listed for whoever has this authorization; all where it is not said. */
  readonly shown: Map<string, readonly string[]>
  /** What is shown of each tool. */
  readonly descriptions: Map<string, string>
  /** Ends its connections, and shows this certificate from now on. */
  setCertificate(pair: Certificate): void
}

const bodyOf = async (request: IncomingMessage): Promise<Message> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Message
}

const header = ({ headers }: IncomingMessage, name: string): string | null =>
  [headers[name]].flat()[0] ?? null

/**
 * A server over HTTP as of 2025 that gives out sessions, wants to know who calls, and says so in its answers. It takes
 * nobody into the session of another.
 */
export const openSessions = async (
  known: (asked: Pick<Asked, 'authorization' | 'key'>) => boolean,
  certificate: Certificate | null = null,
): Promise<SessionServer> => {
  const asked: Asked[] = []
  const shown: SessionServer['shown'] = new Map()
  const descriptions: SessionServer['descriptions'] = new Map()
  /** Who opened each session. */
  const sessions = new Map<string, string>()
  const results: Record<string, (one: Asked, message: Message) => unknown> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'sessions', version: '1.0.0' },
    }),
    'tools/list': ({ authorization }) => ({
      tools: (shown.get(authorization ?? '') ?? ['who', 'more']).map((name) => ({
        name,
        description: descriptions.get(name) ?? `Does ${name}.`,
        inputSchema: { type: 'object' },
      })),
    }),
    'tools/call': ({ session, authorization, key }) => ({
      content: [{ type: 'text', text: JSON.stringify({ session, authorization, key }) }],
    }),
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const end = (status: number, body?: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body ? JSON.stringify(body) : '')
    }
    if (request.method !== 'POST') return end(405)
    const message = await bodyOf(request)
    const { id, method } = message
    const one: Asked = {
      method,
      session: header(request, 'mcp-session-id'),
      authorization: header(request, 'authorization'),
      key: header(request, 'x-key'),
      socket: request.socket,
    }
    asked.push(one)
    if (!known(one)) return end(401)
    const who = `${one.authorization} ${one.key}`
    const result = results[method]
    if (id === undefined) return end(202)
    if (result === undefined)
      return end(400, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } })
    if (method === 'initialize') {
      const session = randomUUID()
      sessions.set(session, who)
      return end(
        200,
        { jsonrpc: '2.0', id, result: result(one, message) },
        { 'mcp-session-id': session },
      )
    }
    if (one.session === null || sessions.get(one.session) !== who) return end(403)
    return end(200, { jsonrpc: '2.0', id, result: result(one, message) })
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response)
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...{ target, asked, shown, descriptions },
    url: `${certificate ? 'https' : 'http'}://${target}/mcp`,
    setCertificate(pair) {
      ;(server as SecureServer).setSecureContext(pair)
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
