import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
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
  /** Says that its list of these has changed, to all that it tells of it. */
  changeList(list: 'prompts' | 'resources'): void
  /** Addresses that it tells somebody of just now. */
  subscribed(): readonly string[]
  /** Sessions that it keeps; none in 2026-07-28. */
  sessions(): number
  /** Requests to read, by address. */
  readonly reads: string[]
  /** Knows none of its sessions any more. */
  forget(): void
  /** The same, and ends its connections, as a server that crashes and comes back does. */
  restart(): void
  /** Answers nobody until it is told otherwise. */
  setAway(away: boolean): void
  /** Requests that it was sent while it was away. */
  missed(): number
}

const uris = ['notes://first', 'notes://second']
const resources = uris.map((uri) => ({ uri, name: uri, mimeType: 'text/plain' }))

const prompts = [{ name: 'sum-up', description: 'Sums up all notes.' }]

const serve = async (answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>) => {
  let isAway = false
  let missed = 0
  const server = createServer((req, res) => {
    if (!isAway) return void answer(req, res)
    missed += 1
    res.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    endConnections: () => server.closeAllConnections(),
    missed: () => missed,
    setAway(away: boolean) {
      isAway = away
      if (away) server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type LegacySessions = {
  readonly reads: string[]
  readonly subscriptions: Map<Server, Set<string>>
  create(): Server
}

/** Servers made with the SDK of the versions up to 2025-11-25: one a session. */
const createLegacy = (): LegacySessions => {
  const reads: string[] = []
  const subscriptions = new Map<Server, Set<string>>()
  const create = (): Server => {
    const server = new Server(
      { name: 'notes', version: '1.0.0' },
      {
        capabilities: {
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
        },
      },
    )
    const own = new Set<string>()
    subscriptions.set(server, own)
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }))
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }))
    server.setRequestHandler(GetPromptRequestSchema, () => ({ messages: [] }))
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
  return { reads, subscriptions, create }
}

/** Notices of such servers. */
const noticesOf = ({ reads, subscriptions }: LegacySessions) => ({
  reads,
  changeList(list: 'prompts' | 'resources') {
    for (const server of subscriptions.keys())
      void (list === 'prompts' ? server.sendPromptListChanged() : server.sendResourceListChanged())
  },
  change(uri: string) {
    for (const [server, own] of subscriptions)
      if (own.has(uri)) void server.sendResourceUpdated({ uri })
  },
  subscribed: () => [...subscriptions.values()].flatMap((own) => [...own]),
})

const forgetting = (http: { endConnections(): void }, forget: () => void) => ({
  forget,
  restart() {
    forget()
    http.endConnections()
  },
})

/** Over Streamable HTTP, with a stream of its own for each session. */
const openLegacy = async (): Promise<WatchedServer> => {
  const legacy = createLegacy()
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const named = req.headers['mcp-session-id']
    const known = sessions.get(String(named))
    if (known) return await known.handleRequest(req, res)
    if (named !== undefined) return void res.writeHead(404).end()
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await legacy.create().connect(transport as never)
    await transport.handleRequest(req, res)
  }
  const http = await serve(answer)
  return {
    ...http,
    ...noticesOf(legacy),
    ...forgetting(http, () => {
      sessions.clear()
      legacy.subscriptions.clear()
    }),
    sessions: () => sessions.size,
  }
}

/** Over HTTP+SSE, as servers of 2024 have it: each session ends with its stream. */
const openSse = async (): Promise<WatchedServer> => {
  const legacy = createLegacy()
  const sessions = new Map<string, SSEServerTransport>()
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(String(req.url), 'http://127.0.0.1')
    if (pathname === '/messages') {
      const known = sessions.get(String(searchParams.get('sessionId')))
      return known ? await known.handlePostMessage(req, res) : void res.writeHead(404).end()
    }
    if (req.method !== 'GET') return void res.writeHead(405).end()
    const transport = new SSEServerTransport('/messages', res)
    sessions.set(transport.sessionId, transport)
    res.once('close', () => sessions.delete(transport.sessionId))
    await legacy.create().connect(transport)
  }
  const http = await serve(answer)
  return {
    ...http,
    ...noticesOf(legacy),
    ...forgetting(http, () => sessions.clear()),
    sessions: () => sessions.size,
  }
}

/** Made with the SDK of 2026-07-28: what a stream tells of is said at its beginning. */
const openModern = async (tells: boolean): Promise<WatchedServer> => {
  const reads: string[] = []
  const bus = new InMemoryServerEventBus()
  const streams = new Map<ServerResponse, readonly string[]>()
  const create = () => {
    const server = new McpServer(
      { name: 'notes', version: '1.0.0' },
      {
        capabilities: {
          resources: { subscribe: tells, listChanged: tells },
          prompts: { listChanged: tells },
        },
      },
    )
    server.registerPrompt('sum-up', { description: 'Sums up all notes.' }, () => ({
      messages: [],
    }))
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
    ...forgetting(http, () => {}),
    reads,
    sessions: () => 0,
    change: (uri) => bus.publish({ kind: 'resource_updated', uri }),
    changeList: (list) => bus.publish({ kind: `${list}_list_changed` }),
    subscribed: () => [...streams.values()].flat(),
  }
}

/** Servers that tell of changes of their resources, as each era has it. */
export const watchedServers = {
  legacy: openLegacy,
  sse: openSse,
  modern: () => openModern(true),
  /** Tells of none. */
  silent: () => openModern(false),
}
