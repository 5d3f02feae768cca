import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  GatehouseError,
  type LogLevel,
  type RpcErrorObject,
  type RpcId,
  rpcCodes,
} from '@gatehouse/contract'
import { Hold } from '../../app/call/hold.ts'
import type { Held } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { ChangingLists } from '../../app/upstreams/features.ts'
import { describeThrown, rpcError } from '../http/describe-thrown.ts'
import { type Envelope, isMembers, readEnvelope } from '../http/envelope.ts'
import type { Exchange } from '../http/exchanges.ts'
import type { GatewayLimits } from '../http/limits.ts'
import { refusals, refuse, sendEmpty, sendJson } from '../http/respond.ts'
import { atOnce, Cancellation, TransportOp } from '../http/transport-op.ts'
import { acceptsEventStream, beginEventStream, writeEvent } from './event-stream.ts'
import type { McpCall, McpDeps } from './mcp-call.ts'
import { answerRequest, errorText, initialize, isMcpId } from './peer.ts'
import type { PushStreams } from './push-streams.ts'
import { batchingVersion, isLegacyVersion, type LegacyVersion, legacyVersions } from './versions.ts'

type Actor = AgentOp['actor']
type Request = Extract<Envelope, { kind: 'request' }>
type Post = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly actor: Actor
  readonly session_id: string | null
  /** When the server stops. A peer that goes away cancels nothing, as these versions have it. */
  readonly whole: Exchange
  readonly hold: Hold
  readonly held: Held
}

/** A session that ends by itself is forgotten with those that came after it. */
const sessionsMax = 10_000

/** Facts about a session that its transport needs. */
type Known = {
  /** Lists of which its client was promised that it is told. */
  readonly changingLists: ChangingLists
  readonly logLevel?: LogLevel
  /** Agreed on at its start, and meant by requests that name none. */
  readonly version?: LegacyVersion
}

const unknown: Known = { changingLists: [] }

const header = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name]
  return typeof value === 'string' ? value : undefined
}

const isAnswer = (value: unknown): boolean =>
  isMembers(value) && !('method' in value) && ('result' in value || 'error' in value)

/**
 * Streamable HTTP for the versions that open with `initialize`. An answer is JSON, unless progress was
 * asked for and there is some: then it becomes a stream that ends with the answer.
 */
export class StreamableHttp {
  readonly #deps: McpDeps & { readonly limits: GatewayLimits }
  readonly #streams: PushStreams
  /** Running requests, by session and request id, so that they can be cancelled. */
  readonly #calls = new Map<string, Map<string | number, Cancellation>>()
  /** By session, those that said or were told something last. */
  readonly #known = new Map<string, Known>()

  constructor(deps: McpDeps & { readonly limits: GatewayLimits }, streams: PushStreams) {
    this.#deps = deps
    this.#streams = streams
  }

  async post(
    req: IncomingMessage,
    res: ServerResponse,
    whole: Exchange,
    value: unknown,
    held: Held,
  ): Promise<void> {
    const { actor } = whole
    const version = header(req, 'mcp-protocol-version')
    if (version !== undefined && !isLegacyVersion(version)) {
      const detail = `protocol version ${version.slice(0, 32)} is not spoken here`
      return this.#fault(res, 400, null, {
        ...rpcError('InvalidRequest', { detail }),
        data: { supported: legacyVersions },
      })
    }
    const opens = isMembers(value) && value['method'] === 'initialize'
    const session_id = opens ? null : (header(req, 'mcp-session-id') ?? null)
    if (session_id !== null && !(await this.#inSession(res, actor, session_id))) return
    const exchange: Post = {
      req,
      res,
      actor,
      session_id,
      whole,
      hold: new Hold(this.#deps.stops),
      held,
    }
    const agreed = session_id === null ? undefined : this.#knownOf(session_id).version
    if (Array.isArray(value)) return this.#batch(exchange, value, version ?? agreed)
    return this.#single(exchange, value)
  }

  /** GET: what is pushed to this session, until either side leaves. */
  async get(req: IncomingMessage, res: ServerResponse, actor: Actor): Promise<void> {
    const sessionId = header(req, 'mcp-session-id')
    if (sessionId === undefined || !acceptsEventStream(req.headers.accept)) {
      return refuse(req, res, refusals.mcpMethods)
    }
    if (!(await this.#inSession(res, actor, sessionId))) return
    const { changingLists } = this.#knownOf(sessionId)
    const refused = this.#streams.open(res, actor, sessionId, changingLists)
    if (refused) refuse(req, res, refused)
  }

  async delete(req: IncomingMessage, res: ServerResponse, actor: Actor): Promise<void> {
    const sessionId = header(req, 'mcp-session-id')
    if (sessionId === undefined) {
      const detail = 'name the session in Mcp-Session-Id'
      return this.#fault(res, 400, null, rpcError('InvalidRequest', { detail }))
    }
    const op = this.#op(actor, sessionId)
    try {
      await this.#deps.app.endSession(op, { session_id: sessionId })
    } catch (thrown) {
      return this.#thrown(res, op.request_id, thrown)
    }
    this.#streams.close(sessionId)
    this.#known.delete(sessionId)
    sendEmpty(res, 204)
  }

  #op(actor: Actor, session_id: string | null): AgentOp {
    const requestId = this.#deps.ids.next('req')
    return new TransportOp({ actor, session_id }, requestId, new Cancellation(), atOnce)
  }

  /** @SECURITY A session is looked up for the agent of the token; an id alone opens nothing; streamable.test.ts. */
  async #inSession(res: ServerResponse, actor: Actor, session_id: string): Promise<boolean> {
    const op = this.#op(actor, session_id)
    try {
      await this.#deps.app.assertSession(op, { session_id })
      return true
    } catch (thrown) {
      this.#thrown(res, op.request_id, thrown)
      return false
    }
  }

  async #isOpen(actor: Actor, session_id: string): Promise<boolean> {
    try {
      await this.#deps.app.assertSession(this.#op(actor, session_id), { session_id })
      return true
    } catch (thrown) {
      if (thrown instanceof GatehouseError && thrown.type === 'SessionNotFound') return false
      throw thrown
    }
  }

  #thrown(res: ServerResponse, requestId: string, thrown: unknown): void {
    const { error, unavailable } = describeThrown(thrown, requestId, this.#deps.log)
    const unknown = thrown instanceof GatehouseError && thrown.type === 'SessionNotFound'
    this.#fault(res, unknown ? 404 : unavailable ? 503 : 500, null, error)
  }

  #fault(res: ServerResponse, status: number, id: RpcId, error: RpcErrorObject): void {
    sendJson(res, status, errorText(id, error))
  }

  async #single(exchange: Post, value: unknown): Promise<void> {
    const { res } = exchange
    if (isAnswer(value)) return sendEmpty(res, 202)
    const envelope = readEnvelope(value)
    switch (envelope.kind) {
      case 'invalid':
        return this.#fault(res, 400, envelope.id, envelope.error)
      case 'notification':
        this.#notified(exchange, envelope.method, envelope.params)
        return sendEmpty(res, 202)
      case 'request':
        if (envelope.method === 'initialize') return this.#initialize(exchange, envelope)
        return this.#finish(res, await this.#request(exchange, envelope, false))
    }
  }

  #finish(res: ServerResponse, text: string): void {
    if (res.destroyed) return
    if (!res.headersSent) return sendJson(res, 200, text)
    writeEvent(res, text)
    res.end()
  }

  async #batch(
    exchange: Post,
    values: readonly unknown[],
    version: string | undefined,
  ): Promise<void> {
    const { batchMax } = this.#deps.limits
    const mayBatch = version === undefined || version === batchingVersion
    if (!mayBatch || values.length === 0 || values.length > batchMax) {
      const detail = mayBatch
        ? `a batch has 1 to ${batchMax} messages`
        : `only protocol version ${batchingVersion} has batches`
      return this.#fault(exchange.res, 400, null, rpcError('InvalidRequest', { detail }))
    }
    const texts: string[] = []
    for (const value of values) {
      if (isAnswer(value)) continue
      const envelope = readEnvelope(value)
      if (envelope.kind === 'invalid') texts.push(errorText(envelope.id, envelope.error))
      else if (envelope.kind === 'notification') {
        this.#notified(exchange, envelope.method, envelope.params)
      } else texts.push(await this.#request(exchange, envelope, true))
    }
    if (texts.length === 0) sendEmpty(exchange.res, 202)
    else this.#finish(exchange.res, `[${texts.join(',')}]`)
  }

  #notified(exchange: Post, method: string, params: unknown): void {
    if (method !== 'notifications/cancelled' || !exchange.session_id || !isMembers(params)) return
    const id = params['requestId'] as string | number
    const running = this.#calls.get(exchange.session_id)
    running?.get(id)?.abort(new GatehouseError('Cancelled'))
  }

  async #initialize(exchange: Post, { id, params }: Request): Promise<void> {
    const { res, actor } = exchange
    const { app } = this.#deps
    const named = header(exchange.req, 'mcp-session-id')
    // One that has ended, or that a service before this one had, is no hindrance: its client begins anew.
    if (named !== undefined && (await this.#isOpen(actor, named))) {
      const detail = 'this session is initialized already; another one begins without its id'
      return this.#fault(res, 400, id, rpcError('InvalidRequest', { detail }))
    }
    const opened = initialize(app, params)
    if ('error' in opened) return this.#fault(res, 200, id, opened.error)
    const op = this.#op(actor, null)
    try {
      const offered = await app.offeredFeatures(op)
      const result = opened.result(offered)
      const { session_id } = await app.openSession(op, {
        transport: 'mcp-http',
        client: opened.client,
      })
      const { version } = opened
      this.#keep(session_id, { changingLists: offered.changingLists, version })
      const text = JSON.stringify({ jsonrpc: '2.0', id, result })
      sendJson(res, 200, text, { 'Mcp-Session-Id': session_id })
    } catch (thrown) {
      this.#thrown(res, op.request_id, thrown)
    }
  }

  async #request(exchange: Post, request: Request, batched: boolean): Promise<string> {
    const { id } = request
    const running = this.#runningOf(exchange.session_id)
    if (!isMcpId(id) || running?.has(id) || request.method === 'initialize') {
      const detail = !isMcpId(id)
        ? 'id must be a string or an integer'
        : running?.has(id)
          ? 'a request with this id still runs'
          : 'initialize comes alone'
      return errorText(isMcpId(id) ? id : null, {
        code: rpcCodes.invalidRequest,
        message: `Invalid request: ${detail}`,
      })
    }
    const { actor, session_id, whole, hold, held } = exchange
    // Alone in its request it ends with it; one of a batch can be cancelled without the others.
    const cancellation = batched ? whole.part() : whole
    running?.set(id, cancellation)
    try {
      const { gone } = whole
      const opened = {
        held,
        hold,
        gone,
        ...this.#notifier(exchange),
        ...this.#ofSession(session_id),
      }
      const call = { actor, session_id, cancellation, ...opened }
      const text = await answerRequest(this.#deps, call, request)
      held.told(text.length)
      return text
    } finally {
      running?.delete(id)
      if (running?.size === 0 && session_id) this.#calls.delete(session_id)
    }
  }

  #ofSession(sessionId: string | null): Pick<McpCall, 'push' | 'logLevel' | 'setLogLevel'> {
    if (sessionId === null) return {}
    return {
      push: (text) => this.#streams.push(sessionId, text),
      logLevel: this.#knownOf(sessionId).logLevel,
      setLogLevel: (logLevel) => this.#keep(sessionId, { ...this.#knownOf(sessionId), logLevel }),
    }
  }

  #knownOf(sessionId: string): Known {
    return this.#known.get(sessionId) ?? unknown
  }

  #keep(sessionId: string, known: Known): void {
    this.#known.delete(sessionId)
    this.#known.set(sessionId, known)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > sessionsMax) this.#known.delete(oldest)
  }

  /** Peers without a session share nothing they could tell their request ids apart by. */
  #runningOf(sessionId: string | null): Map<string | number, Cancellation> | null {
    if (sessionId === null) return null
    const before = this.#calls.get(sessionId)
    if (before) return before
    const made = new Map<string | number, Cancellation>()
    this.#calls.set(sessionId, made)
    return made
  }

  #notifier({ req, res }: Post): { notify?: (text: string) => void } {
    if (!acceptsEventStream(req.headers.accept)) return {}
    const { outboundPauseBytes } = this.#deps.limits
    return {
      notify: (text) => {
        if (res.destroyed || res.writableLength > outboundPauseBytes) return
        if (!res.headersSent) beginEventStream(res)
        writeEvent(res, text)
      },
    }
  }
}
