import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  ListResourcesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  createMcpHandler,
  InMemoryServerEventBus,
  McpServer,
  ProtocolError,
} from '@modelcontextprotocol/server'

export type WatchedServer = AsyncDisposable & {
  readonly url: string
  /** Says that a resource has changed, to all who have subscribed to it. */
  change(uri: string): void
  /** Addresses that it tells somebody of just now. */
  subscribed(): readonly string[]
  /** Sessions that it keeps; none in 2026-07-28. */
  sessions(): number
  /** Requests to read, by address. */
  readonly reads: string[]
  /** Ends all connections, as a server that crashes does. */
  dropAll(): void
}

const uris = ['notes://first', 'notes://second']
const resources = uris.map((uri) => ({ uri, name: uri, mimeType: 'text/plain' }))

const serve = async (answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>) => {
  const server = createServer((req, res) => void answer(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    dropAll: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Made with the SDK of the versions up to 2025-11-25: a session each, with a stream of its own. */
const openLegacy = async (): Promise<WatchedServer> => {
  const reads: string[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const subscriptions = new Map<Server, Set<string>>()
  const create = (): Server => {
    const server = new Server(
      { name: 'notes', version: '1.0.0' },
      { capabilities: { resources: { subscribe: true } } },
    )
    const own = new Set<string>()
    subscriptions.set(server, own)
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }))
    server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
      reads.push(uri)
      if (!uris.includes(uri)) throw new ProtocolError(-32602, `there is no ${uri}`)
      return { contents: [{ uri, text: 'Buy milk.' }] }
    })
    server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      own.add(uri)
      return {}
    })
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
      own.delete(uri)
      return {}
    })
    server.onclose = () => void subscriptions.delete(server)
    return server
  }
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const known = sessions.get(String(req.headers['mcp-session-id']))
    if (known) return await known.handleRequest(req, res)
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await create().connect(transport as never)
    await transport.handleRequest(req, res)
  }
  const http = await serve(answer)
  return {
    ...http,
    reads,
    change(uri) {
      for (const [server, own] of subscriptions)
        if (own.has(uri)) void server.sendResourceUpdated({ uri })
    },
    sessions: () => sessions.size,
    subscribed: () => [...subscriptions.values()].flatMap((own) => [...own]),
  }
}

/** Made with the SDK of 2026-07-28: what a stream tells of is said at its beginning. */
const openModern = async (subscribe: boolean): Promise<WatchedServer> => {
  const reads: string[] = []
  const bus = new InMemoryServerEventBus()
  const streams = new Map<ServerResponse, readonly string[]>()
  const create = () => {
    const server = new McpServer(
      { name: 'notes', version: '1.0.0' },
      { capabilities: { resources: { subscribe } } },
    )
    for (const uri of uris)
      server.registerResource(uri, uri, { mimeType: 'text/plain' }, () => {
        reads.push(uri)
        return { contents: [{ uri, text: 'Buy milk.' }] }
      })
    return server
  }
  const handler = createMcpHandler(create, { bus })
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { method = 'GET' } = req
    const gone = new AbortController()
    res.once('close', () => {
      gone.abort()
      streams.delete(res)
    })
    if (method === 'POST') {
      const asked = JSON.parse(body.toString()).params?.notifications?.resourceSubscriptions
      if (asked) streams.set(res, asked)
    }
    const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)])
    const asked = new Request('http://127.0.0.1/mcp', {
      method,
      headers: headers as [string, string][],
      body: method === 'POST' ? body : null,
      signal: gone.signal,
    })
    const answered = await handler.fetch(asked)
    res.writeHead(answered.status, Object.fromEntries(answered.headers))
    res.flushHeaders()
    if (answered.body === null) res.end()
    else await pipeline(answered.body, res).catch(() => {})
  }
  const http = await serve(answer)
  return {
    ...http,
    reads,
    sessions: () => 0,
    change: (uri) => bus.publish({ kind: 'resource_updated', uri }),
    subscribed: () => [...streams.values()].flat(),
  }
}

/** Servers that tell of changes of their resources, as each era has it. */
export const watchedServers = {
  legacy: openLegacy,
  modern: () => openModern(true),
  /** Tells of none. */
  silent: () => openModern(false),
}
