import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuthenticatedAgent } from '../../app/agents/agent-directory.ts'
import type { App } from '../../app/app.ts'
import { Hold } from '../../app/call/hold.ts'
import type { Held, MemoryBudget } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { Ways } from '../../app/nodes/ways.ts'
import { takeNodesListener } from '../../connections/first-bytes.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import { Admission, upgradeToken } from '../http/admission.ts'
import { createHostCheck } from '../http/allowed-hosts.ts'
import { type ClientAddress, createClientAddress } from '../http/client-address.ts'
import { closeWithConnection } from '../http/close-with-connection.ts'
import { describeThrown } from '../http/describe-thrown.ts'
import { FaultyRequest } from '../http/envelope.ts'
import { Exchanges } from '../http/exchanges.ts'
import { HeadlessSockets } from '../http/headless-sockets.ts'
import type { HttpResponse } from '../http/http-response.ts'
import { defaultGatewayLimits, type GatewayLimits, keepAliveMs } from '../http/limits.ts'
import { LoopLag } from '../http/loop-lag.ts'
import { needsSlices } from '../http/parse-json.ts'
import { parseRequests, parseRequestsInSlices } from '../http/parse-requests.ts'
import { refusalOfParser, refuseSocket } from '../http/raw-answer.ts'
import { type ReadBody, readBody } from '../http/read-body.ts'
import type { FrontHeaders } from '../http/read-headers.ts'
import {
  memoryTaken,
  type Refusal,
  refusals,
  sendEmpty,
  sendJson,
  tooManyConnections,
} from '../http/respond.ts'
import { bearerToken, presentedToken, splitToken } from '../http/token.ts'
import { type TokenFailureReport, TokenFailures } from '../http/token-failures.ts'
import { type ToolNames, toolNamesOf } from '../http/tool-names.ts'
import { AgentConnections } from '../mcp/agent-connections.ts'
import { isModern } from '../mcp/modern/is-modern.ts'
import { errorText } from '../mcp/peer.ts'
import { PushStreams } from '../mcp/push-streams.ts'
import { StreamableHttp } from '../mcp/streamable.ts'
import { McpWebSockets } from '../mcp/websocket.ts'
import { answerRpc } from '../rpc/answer-rpc.ts'

import { FastConnection, type FastPath } from './fast-path/fast-connection.ts'
import { type Asking, Forwarder } from './forwarder.ts'
import { type GatewayRequest, refuseRequest } from './gateway-request.ts'
import type { NodeLinks } from './node-links.ts'
import { type HandOver, passOn } from './pass-on.ts'
import { routeOf } from './route.ts'
import { withoutOffer } from './upgrade-offer.ts'

export type GatewayOptions = {
  readonly app: App
  readonly ids: Pick<Ids, 'next'>
  readonly log: Log
  readonly version: string
  /** Names beside `localhost`, `*.localhost`, IP literals and the machine's own. */
  readonly allowedHosts: readonly string[]
  /** Origins (`https://name:port`) whose pages may call; all others are refused. */
  readonly allowedOrigins: readonly string[]
  /** Proxies whose word on the client's address counts. */
  readonly trustedProxies?: readonly string[]
  readonly limits?: Partial<GatewayLimits>
  /** Address of the page on which people decide, once it is served. */
  readonly page?: () => string | null
  /** The way to the process that serves the agent of a token, where there are several; null where that is this one. */
  readonly wayTo?: (token: string) => Promise<HandOver | null>
  /** Other nodes, where agents are bound to the one that has their folders. */
  readonly nodes?: { readonly links: NodeLinks; readonly ways: Ways } | undefined
  /** Hears of wrong tokens: the first of an address and minute, then the count of the rest. */
  readonly onTokenFailures?: (report: TokenFailureReport) => void
}

const socketSendsMs = 250
const jsonType = /^application\/json\s*(?:;|$)/i

const isJson = (type: string | undefined): boolean =>
  type === 'application/json' || (type !== undefined && jsonType.test(type.trim()))

const isBodyFault = (request: GatewayRequest, headers: FrontHeaders, bytesMax: number) => {
  if (headers.contentEncoding !== undefined) return refusals.encoded
  if (!isJson(headers.contentType)) return refusals.notJson
  if (headers.contentLength > bytesMax) return refusals.tooLarge
  return request.by === 'node' && request.req.readableAborted ? refusals.brokenBody : null
}

const actorOf = (agent: AuthenticatedAgent): AgentOp['actor'] => ({
  kind: 'agent',
  name: agent.name,
  credential: agent.credential,
})

/** Every protocol on the gateway's port, in front of one app. */
export class GatewayServer {
  readonly #options: GatewayOptions
  readonly #limits: GatewayLimits
  readonly #admission: Admission
  readonly #failures: TokenFailures
  readonly #clientAddress: ClientAddress
  readonly #lag: LoopLag
  readonly #memory: MemoryBudget
  readonly #exchanges: Exchanges
  readonly #headless: HeadlessSockets
  readonly #perAgent: AgentConnections
  readonly #sockets: McpWebSockets
  readonly #streams: PushStreams
  readonly #names: ToolNames
  readonly #streamable: StreamableHttp
  /** Null where there are no other nodes. */
  readonly #forwarder: Forwarder | null
  readonly #sweeper: NodeJS.Timeout
  readonly #fast = new Set<FastConnection>()
  readonly server: Server
  readonly #serveByNode: (socket: Socket) => void
  #stopping = false
  #isWatching = false
  /** Ends the wait of calls that stay open for a person. */
  readonly #stops = new AbortController()
  #connections = 0

  constructor(options: GatewayOptions) {
    const limits = { ...defaultGatewayLimits, ...options.limits }
    const now = (): number => performance.now()
    const { app, ids, log } = options
    this.#options = options
    this.#limits = limits
    this.#failures = new TokenFailures(limits.tokenFailuresPerMinute, now, (report) => {
      log.warn(report, 'wrong agent tokens')
      options.onTokenFailures?.(report)
    })
    this.#admission = new Admission({
      app,
      isOurHost: createHostCheck([hostname(), ...options.allowedHosts]),
      allowedOrigins: options.allowedOrigins,
      headersMax: limits.headersMax,
      failures: this.#failures,
    })
    this.#clientAddress = createClientAddress(options.trustedProxies ?? [])
    this.#lag = new LoopLag(limits.loopLagMs, limits.shedAfterMs, now())
    this.#memory = app.memory
    this.#exchanges = new Exchanges(app)
    this.#headless = new HeadlessSockets(limits.headlessSocketsMax)
    const { resultBytesMax } = limits
    this.#names = toolNamesOf(app)
    const [memory, names] = [this.#memory, this.#names]
    const stops = this.#stops.signal
    const deps = { app, ids, log, limits, now, memory, names, resultBytesMax, stops }
    this.#perAgent = new AgentConnections(limits.connectionsPerAgentMax)
    this.#sockets = new McpWebSockets(deps, this.#perAgent)
    this.#streams = new PushStreams(deps, this.#perAgent)
    this.#streamable = new StreamableHttp(deps, this.#streams)
    this.#forwarder = options.nodes ? new Forwarder(options.nodes) : null
    this.server = this.#emptyServer()
    // Connections come to the fast path first.
    this.#serveByNode = takeNodesListener(this.server, 'connection')
    this.#setUp(this.server)
    this.#sweeper = setInterval(() => this.#sweep(now()), limits.sweepEveryMs)
    this.#sweeper.unref()
  }

  connections(): number {
    return this.#connections
  }

  /** Serves a connection that another process took, which gave it away before anybody was answered on it. */
  take(socket: Socket, head: Uint8Array): void {
    // Node looks after slow requests once its server listens, which is done elsewhere.
    if (!this.#isWatching) this.server.emit('listening')
    this.#isWatching = true
    socket.unshift(head)
    this.server.emit('connection', socket)
  }

  async close(graceMs: number): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#stops.abort()
    const closed = this.#closed()
    this.#headless.closeSilent()
    this.#streams.stop()
    this.#sockets.stop()
    this.#forwarder?.stop()
    // A connection that becomes idle after `close` would keep the server waiting.
    const idle = setInterval(() => this.#closeIdle(), 20)
    const cut = () => {
      this.#sockets.terminate()
      this.#forwarder?.terminate()
      this.server.closeAllConnections()
      for (const { socket } of this.#fast) socket.destroy()
    }
    // Cancelled calls are answered: the time for that begins then, however late it is.
    let ending = setTimeout(() => {
      this.#exchanges.abort()
      this.#sockets.abort()
      ending = setTimeout(cut, socketSendsMs)
    }, graceMs)
    await closed
    for (const timer of [idle, ending, this.#sweeper]) clearTimeout(timer)
  }

  /**
   * Resolves when no connection is left, by our own count: Node's is wrong after connections were given to another process,
   * never ends once that process died (workers-log.test.ts), and a server that listens nowhere has none.
   */
  async #closed(): Promise<void> {
    this.server.close()
    while (this.#connections > 0) await sleep(20)
  }

  #closeIdle(): void {
    this.server.closeIdleConnections()
    for (const connection of this.#fast) connection.closeIdle()
  }

  #setUp(server: Server): void {
    const limits = this.#limits
    server.headersTimeout = limits.headersTimeoutMs
    server.requestTimeout = limits.requestTimeoutMs
    server.keepAliveTimeout = keepAliveMs
    server.maxConnections = limits.connectionsMax
    // 0: none are dropped silently; more than `headersMax` are refused by name.
    server.maxHeadersCount = 0
    server.maxRequestsPerSocket = 0
    const fastPath: FastPath = {
      connections: this.#fast,
      serve: ({ rawHeaders, body }, socket, res) => {
        const head = { method: 'POST', path: '/rpc', rawHeaders }
        void this.#serve({ by: 'fast path', ...head, body, socket, res })
      },
      handOver: this.#serveByNode,
    }
    const { wayTo, nodes } = this.#options
    const links = nodes?.links
    if (links) links.serve = (secured) => void server.emit('connection', secured)
    server.on('connection', (socket) => {
      this.#connections++
      this.#headless.add(socket)
      const left = (): void => {
        this.#connections--
        this.#headless.delete(socket)
      }
      socket.once('close', left)
      const serve = (): void => void new FastConnection(fastPath, socket)
      if (!(wayTo || links) || links?.isLink(socket)) return serve()
      const gone = (): void => {
        socket.off('close', left)
        left()
      }
      const secure = links && ((head: Buffer) => links.secure(socket, head))
      passOn(socket, { wayTo, secure, gone, serve, silentMs: keepAliveMs })
    })
    server.on('request', (req, res) => this.#serveNode(req, res, false))
    server.on('checkContinue', (req, res) => this.#serveNode(req, res, true))
    server.on('upgrade', (req, socket, head) => void this.#upgrade(req, socket, head))
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      refuseSocket(socket, refusalOfParser(error.code))
    })
  }

  #emptyServer(): Server {
    return createServer({
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
      insecureHTTPParser: false,
      noDelay: true,
    })
  }

  #sweep(nowMs: number): void {
    this.#lag.look(nowMs, this.#limits.sweepEveryMs)
    this.#failures.sweep()
    this.#sockets.sweep()
    this.#streams.sweep()
    this.#exchanges.sweep()
    for (const connection of this.#fast) connection.sweep(nowMs)
  }

  #serveNode(req: IncomingMessage, res: ServerResponse, continues: boolean): void {
    const { method = '', socket, rawHeaders } = req
    closeWithConnection(req, res)
    const { path } = splitToken(req.url ?? '/')
    req.url = path
    void this.#serve({ by: 'node', method, path, rawHeaders, socket, req, res, continues })
  }

  async #serve(request: GatewayRequest): Promise<void> {
    this.#headless.delete(request.socket)
    try {
      await this.#route(request)
    } catch (thrown) {
      this.#fail(request.res, thrown)
    }
  }

  /** Failure that escaped every other net: the peer gets an id, the log the rest. */
  #fail(res: HttpResponse, thrown: unknown): void {
    const requestId = this.#options.ids.next('req')
    const { error, unavailable } = describeThrown(thrown, requestId, this.#options.log)
    if (res.headersSent) return void res.destroy()
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error })
    sendJson(res, unavailable ? 503 : 500, body, { Connection: 'close' })
  }

  async #route(request: GatewayRequest): Promise<void> {
    const { socket } = request
    const admitted = this.#admission.admit(request.rawHeaders)
    if (admitted.kind === 'refused') return refuseRequest(request, admitted.refusal)
    const { headers } = admitted
    if (this.#decidedByRoute(request, headers.upgrade !== undefined)) return
    const address = () => this.#addressOf(socket, headers)
    const known = await this.#admission.identify(bearerToken(headers.authorization), address)
    if (known.kind === 'refused') return refuseRequest(request, known.refusal)
    return this.#answer(request, { agent: known.agent, address }, headers)
  }

  async #answer(request: GatewayRequest, asking: Asking, headers: FrontHeaders): Promise<void> {
    const { path, res } = request
    const actor = actorOf(asking.agent)
    if (request.by === 'node' && request.method === 'GET')
      return this.#streamable.get(request.req, request.res, actor)
    if (request.by === 'node' && request.method === 'DELETE')
      return this.#streamable.delete(request.req, request.res, actor)
    const fault = isBodyFault(request, headers, this.#limits.bodyBytesMax)
    if (fault) return refuseRequest(request, fault)
    const held = this.#memory.take(actor.name, headers.contentLength)
    if (!held) return refuseRequest(request, memoryTaken(this.#memory.perAgentMax))
    res.on('close', () => held.release())
    if (res.destroyed) return held.release()
    const body = await this.#readBody(request, held, headers.contentLength)
    const value = body && (await this.#valueOf(request, body))
    if (body === null || value === undefined) return
    held.parsed()
    if (await this.#forwards(request, asking, body, value)) return
    if (path === '/rpc') await this.#rpc(res, actor, headers, value, held)
    else if (request.by === 'node') await this.#mcp(request.req, request.res, actor, value, held)
    held.answered(res.writableLength)
  }

  async #forwards(
    request: GatewayRequest,
    asking: Asking,
    body: Buffer,
    value: unknown,
  ): Promise<boolean> {
    const forwarder = this.#forwarder
    if (!forwarder?.concerns(request.socket, asking.agent)) return false
    return forwarder.isOfNode(value) && forwarder.request(request, asking, body)
  }

  /** Address of who asks; of what another node forwarded, the one that it says. */
  #addressOf(socket: Socket, { forwardedFor }: FrontHeaders): string | undefined {
    if (this.#options.nodes?.links.isLink(socket)) return forwardedFor
    return this.#clientAddress(socket.remoteAddress, forwardedFor)
  }

  /** Decision by path and method alone; true where the request is answered or refused by that. */
  #decidedByRoute(request: GatewayRequest, offersUpgrade: boolean): boolean {
    const { method, path, res } = request
    const route = routeOf(method, path, offersUpgrade)
    if (route.kind === 'refused') refuseRequest(request, route.refusal)
    else if (this.#stopping && path !== '/healthz') refuseRequest(request, refusals.stopping)
    else if (route.kind === 'health') this.#probe(res, path)
    else if (this.#sheds()) refuseRequest(request, refusals.overloaded)
    else return false
    return true
  }

  /** Whether new calls would only wait. Of a loop that others keep from running, few calls ask nothing that a refusal spares. */
  #sheds(): boolean {
    return this.#lag.lags && this.#options.app.callsUnderWay() >= this.#limits.shedFromCalls
  }

  /** Alive is who answers; ready is who may be sent calls. */
  #probe(res: HttpResponse, path: string): void {
    const status = path === '/readyz' ? this.#options.app.readiness() : 'healthy'
    if (status === 'unhealthy') sendJson(res, 503, '{"status":"unhealthy"}', { 'Retry-After': '1' })
    else sendJson(res, 200, '{"status":"ok"}')
  }

  /** The body; null where it was refused and answered. */
  async #readBody(request: GatewayRequest, held: Held, declared: number): Promise<Buffer | null> {
    const read = await this.#bytesOf(request, held, declared)
    switch (read.kind) {
      case 'too_large':
        refuseRequest(request, refusals.tooLarge)
        return null
      case 'overloaded':
        refuseRequest(request, memoryTaken(this.#memory.perAgentMax))
        return null
      case 'broken':
        return null
      case 'read':
        return read.bytes
    }
  }

  /** The parsed body; undefined where it was refused and answered. */
  async #valueOf(request: GatewayRequest, body: Buffer): Promise<unknown> {
    try {
      return needsSlices(body)
        ? await parseRequestsInSlices(body, this.#limits)
        : parseRequests(body, this.#limits)
    } catch (thrown) {
      const requestId = this.#options.ids.next('req')
      const { error } = describeThrown(thrown, requestId, this.#options.log)
      const body = JSON.stringify({ jsonrpc: '2.0', id: null, error })
      sendJson(request.res, request.path === '/rpc' ? 200 : 400, body)
      return undefined
    }
  }

  #bytesOf(request: GatewayRequest, held: Held, declared: number): ReadBody | Promise<ReadBody> {
    if (request.by === 'fast path') return { kind: 'read', bytes: request.body }
    if (request.continues) request.res.writeContinue()
    return readBody(request.req, this.#limits.bodyBytesMax, held, declared)
  }

  async #rpc(
    res: HttpResponse,
    actor: AgentOp['actor'],
    headers: FrontHeaders,
    value: unknown,
    held: Held,
  ): Promise<void> {
    const { app, ids, log } = this.#options
    const { batchMax, resultBytesMax } = this.#limits
    const cancellation = this.#exchanges.begin(res, actor, 'unwanted')
    const session = headers.session ?? null
    const open = { hold: new Hold(this.#stops.signal), trace: headers.traceparent }
    const from = { actor, cancellation, session, held, open }
    const caller = { app, ids, log, ...from, batchMax, resultBytesMax }
    const { status, body } = await answerRpc(caller, value)
    if (res.destroyed) return
    if (body === null) sendEmpty(res, status)
    else if (status === 503) sendJson(res, status, body, { 'Retry-After': '1' })
    else sendJson(res, status, body)
  }

  async #mcp(
    req: IncomingMessage,
    res: ServerResponse,
    actor: AgentOp['actor'],
    value: unknown,
    held: Held,
  ): Promise<void> {
    if (value instanceof FaultyRequest && value.envelope.kind === 'invalid') {
      const { id, error } = value.envelope
      return sendJson(res, 400, errorText(id, error))
    }
    const modern = isModern(req, value)
    const exchange = this.#exchanges.begin(res, actor, modern ? 'cancelled' : 'ignored')
    if (!modern) return this.#streamable.post(req, res, exchange, value, held)
    const { app, ids, log } = this.#options
    const { resultBytesMax } = this.#limits
    // Loaded with the first request of that era: the SDK is a large part of a start.
    const { serveModern } = await import('../mcp/modern/serve-modern.ts')
    const stops = this.#stops.signal
    const page = () => this.#options.page?.() ?? null
    const [names, streams] = [this.#names, this.#streams]
    const deps = { app, ids, log, names, resultBytesMax, stops, streams, page }
    return serveModern(deps, { req, res, exchange, held }, value)
  }

  async #upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#headless.delete(req.socket)
    if (req.headers.upgrade?.toLowerCase() !== 'websocket') return this.#staysHttp(req, head)
    const drop = (): void => void socket.destroy()
    socket.on('error', drop)
    const address = splitToken(req.url ?? '/')
    req.url = address.path
    try {
      const refusal = await this.#admitUpgrade(req, socket, head, address)
      if (refusal) refuseSocket(socket, refusal)
      else socket.off('error', drop)
    } catch (thrown) {
      const requestId = this.#options.ids.next('req')
      const { error } = describeThrown(thrown, requestId, this.#options.log)
      refuseSocket(socket, { status: 500, code: error.code, message: error.message })
    }
  }

  /**
   * A client that offers to go on in a protocol we do not speak (the JDK's offers HTTP/2 with its first
   * POST) means its request all the same. Node gives us the bare socket, so it is served anew without
   * the offer.
   */
  #staysHttp(req: IncomingMessage, head: Buffer): void {
    const { socket } = req
    socket.unshift(Buffer.concat([withoutOffer(req), head]))
    this.#serveByNode(socket)
  }

  async #admitUpgrade(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    address: ReturnType<typeof splitToken>,
  ): Promise<Refusal | null> {
    const admitted = this.#admission.admit(req.rawHeaders)
    if (admitted.kind === 'refused') return admitted.refusal
    if (address.path !== '/mcp') return refusals.notFound
    if (this.#stopping) return refusals.stopping
    if (this.#sheds()) return refusals.overloaded
    const presented = upgradeToken(admitted.headers.authorization, address, presentedToken)
    if (presented.kind === 'refused') return presented.refusal
    const from = () => this.#addressOf(req.socket, admitted.headers)
    const known = await this.#admission.identify(presented, from)
    if (known.kind === 'refused') return known.refusal
    if (socket.destroyed) return null
    const { agent, token } = known
    const asking = { agent, token, address: from }
    const forwarder = this.#forwarder?.concerns(req.socket, agent) ? this.#forwarder : null
    if (await forwarder?.upgrade({ req, socket, head }, asking)) return null
    // Closed while the other node was looked for: its close, with which it gives its place back, has been told already.
    if (socket.destroyed) return null
    const accepted = this.#sockets.accept(req, socket, head, actorOf(agent))
    return accepted ? null : tooManyConnections(this.#limits.connectionsPerAgentMax)
  }
}
