import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { awaitFirstBytes } from '../connections/first-bytes.ts'
import { parseEndpoint, parseUrl, portOf, unbracket } from '../domain/web-address.ts'
import type { Egress } from '../ports/outbound.ts'
import { dial } from './dial.ts'
import { createHostPatterns } from './egress-patterns.ts'

export type EgressSettings = {
  readonly connector: buildConnector.connector
  /** Folder for the folders of sockets; short, since a socket's path has at most 107 bytes. */
  readonly folder: string
  /** How long a head may take from its first byte. */
  readonly headMs?: number
  readonly idleMs?: number
  readonly connectionsMax?: number
}

const refusedMax = 100

/** About one connection; what `connection` names goes, too. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const forwarded = (headers: NodeJS.Dict<string | string[]>): NodeJS.Dict<string | string[]> => {
  const named = String(headers['connection'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !named.includes(name)),
  )
}

/** Refused hosts, for whoever tells the child’s owner. */
class Refusals {
  readonly #seen = new Map<string, { host: string; port: number; times: number }>()

  add(host: string, port: number): void {
    const key = `${host}:${port}`
    const known = this.#seen.get(key)
    if (known) known.times += 1
    else if (this.#seen.size < refusedMax) this.#seen.set(key, { host, port, times: 1 })
  }

  list() {
    return [...this.#seen.values()].map((refusal) => ({ ...refusal }))
  }
}

const sentence = (host: string, port: number): string =>
  `host ${host}:${port} is not allowed by policy\n`

const end = (socket: Duplex, status: string, text: string): void => {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}

/** Joins two sockets until one ends or nothing moves for a while. */
const join2 = (a: Socket, b: Socket, idleMs: number): void => {
  const close = () => {
    a.destroy()
    b.destroy()
  }
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.setTimeout(idleMs, close)
    from.on('error', close).on('close', () => to.destroySoon())
    from.pipe(to)
  }
}

/** Check and dialler of a connection. */
type Ways = {
  readonly allows: (host: string, port: number) => boolean
  readonly refusals: Refusals
  readonly reach: (host: string, port: number) => Promise<Socket>
  readonly idleMs: number
}

const tunnel = async (
  { allows, refusals, reach, idleMs }: Ways,
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
): Promise<void> => {
  const target = parseEndpoint(request.url ?? '')
  if (!target) return end(client, '400 Bad Request', 'CONNECT takes host:port\n')
  const { host, port } = target
  if (!allows(host, port)) {
    refusals.add(host, port)
    return end(client, '403 Forbidden', sentence(host, port))
  }
  const upstream = await reach(host, port).catch(() => null)
  if (!upstream) return end(client, '502 Bad Gateway', `host ${host}:${port} cannot be reached\n`)
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  if (head.length > 0) upstream.write(head)
  join2(client, upstream, idleMs)
}

const forward = async (
  { allows, refusals, reach, idleMs }: Ways,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const refuse = (status: number, text: string) => {
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text)
  }
  let url: URL
  try {
    url = parseUrl(request.url ?? '')
  } catch {
    return refuse(400, 'a request to this proxy names a whole http:// URL\n')
  }
  if (url.protocol !== 'http:') return refuse(400, 'https goes by CONNECT\n')
  const [host, port] = [unbracket(url.hostname), portOf(url)]
  if (!allows(host, port)) {
    refusals.add(host, port)
    return refuse(403, sentence(host, port))
  }
  const upstream = await reach(host, port).catch(() => null)
  if (!upstream) return refuse(502, `host ${host}:${port} cannot be reached\n`)
  const onward = send({
    createConnection: () => upstream,
    method: request.method,
    path: url.pathname + url.search,
    headers: { ...forwarded(request.headers), host: url.host, connection: 'close' },
    timeout: idleMs,
  })
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, forwarded(answer.headers))
    answer.pipe(response)
  })
  onward.on('timeout', () => onward.destroy(new Error('idle')))
  onward.on('error', () => {
    if (response.headersSent) response.destroy()
    else refuse(502, `host ${host}:${port} cannot be reached\n`)
  })
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** A proxy on a socket of its own, for one child. Each connection is checked by pattern, and dialled under the guard. */
export const openEgress = async (
  hosts: readonly string[],
  { connector, folder, headMs = 10_000, idleMs = 60_000, connectionsMax = 64 }: EgressSettings,
): Promise<Egress> => {
  const allows = createHostPatterns(hosts)
  const refusals = new Refusals()
  const stopping = new AbortController()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
  const reach = async (host: string, port: number): Promise<Socket> =>
    keep(await dial(connector, { host, port }, stopping.signal))

  const ways: Ways = { allows, refusals, reach, idleMs }

  const server = createServer({ headersTimeout: headMs, connectionsCheckingInterval: 1_000 })
  server.maxConnections = connectionsMax
  server.keepAliveTimeout = idleMs
  server.on('connection', keep)
  awaitFirstBytes(server, 'connection', idleMs)
  server.on('connect', (request, client: Socket, head: Buffer) => {
    client.on('error', () => client.destroy())
    tunnel(ways, request, client, head).catch(() => client.destroy())
  })
  server.on('request', (request, response) => {
    forward(ways, request, response).catch(() => response.destroy())
  })

  const own = await mkdtemp(join(folder, 'gatehouse-egress-'))
  // The folder keeps others of this machine out; the child sees the socket alone, under whatever user it has.
  await chmod(own, 0o700)
  const socket = join(own, 's')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: socket, readableAll: true, writableAll: true }, resolve)
  })
  return {
    socket,
    refused: () => refusals.list(),
    async [Symbol.asyncDispose]() {
      stopping.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const open of sockets) open.destroy()
      await closed
      await rm(own, { recursive: true, force: true })
    },
  }
}
