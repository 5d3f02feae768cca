import type { Duplex } from 'node:stream'
import {
  GatehouseError,
  type GatehouseEvent,
  type LogLevel,
  type RpcId,
  rpcCodes,
} from '@gatehouse/contract'
import type { WebSocket } from 'ws'
import { Hold } from '../../app/call/hold.ts'
import type { Held, MemoryBudget } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { ChangingLists } from '../../app/upstreams/features.ts'
import { describeThrown, rpcError } from '../http/describe-thrown.ts'
import { type Envelope, isMembers, readEnvelope } from '../http/envelope.ts'
import type { GatewayLimits } from '../http/limits.ts'
import { needsSlices } from '../http/parse-json.ts'
import { parseRequests, parseRequestsInSlices } from '../http/parse-requests.ts'
import { atOnce, Cancellation, TransportOp } from '../http/transport-op.ts'
import type { McpDeps } from './mcp-call.ts'
import { changedListOf, notificationOf } from './notifications.ts'
import { Outbox } from './outbox.ts'
import { answerRequest, errorText, initialize, isMcpId } from './peer.ts'
import { batchingVersion, type LegacyVersion, unspokenVersion } from './versions.ts'

/** Codes a socket is closed with, beside those that `ws` gives. */
export const closeCodes = {
  goingAway: 1001,
  unsupportedData: 1003,
  tooSlow: 1013,
  tokenInvalid: 4401,
} as const

/** A call older than this waits for something or someone, and no longer counts as running. */
const runningMs = 5_000

type Call = {
  readonly cancellation: Cancellation
  readonly since: number
  counted: boolean
  delivered: boolean
}
type Request = Extract<Envelope, { kind: 'request' }>

export type McpSocketDeps = McpDeps & {
  readonly limits: GatewayLimits
  readonly memory: MemoryBudget
  readonly now: () => number
}

/** Never used: what ends a session must not end with it. */
const never = new Cancellation()

/**
 * One MCP peer on a WebSocket. Its session begins and ends with the socket; the handshake names its client. Nothing it sends
 * is refused for coming fast: its reading pauses instead.
 */
export class McpSocket {
  readonly #deps: McpDeps
  readonly #limits: GatewayLimits
  readonly #memory: MemoryBudget
  readonly #ws: WebSocket
  readonly #outbox: Outbox
  readonly #actor: AgentOp['actor']
  readonly #now: () => number
  readonly #ended: () => void
  readonly #events: Disposable
  readonly #calls = new Map<string | number, Call>()
  readonly #backlog: Buffer[] = []
  readonly #notify = (text: string): void => this.#send(text)
  readonly #push = (text: string): Promise<boolean> =>
    new Promise((resolve) => this.#send(text, resolve))
  readonly #room = (): Promise<boolean> | null => this.#outbox.room()
  #session: string | null = null
  #opening: Promise<string> | null = null
  #version: LegacyVersion | null = null
  #changingLists: ChangingLists = []
  #logLevel: LogLevel | undefined
  #running = 0
  #parsing = false
  #stopping = false
  #closing = false
  #lastSeen: number
  #sweptMs: number
  #lastPing: number
  #pongs = 0
  #pongsSince = 0

  constructor(
    deps: McpSocketDeps,
    peer: { readonly ws: WebSocket; readonly raw: Duplex; readonly actor: AgentOp['actor'] },
    ended: () => void,
  ) {
    this.#deps = deps
    this.#limits = deps.limits
    this.#memory = deps.memory
    this.#ws = peer.ws
    this.#actor = peer.actor
    this.#now = deps.now
    this.#ended = ended
    const now = this.#now()
    this.#lastSeen = now
    this.#sweptMs = now
    this.#lastPing = now
    this.#outbox = new Outbox(peer, deps.limits, deps.memory.hold(peer.actor.name, 0), now, () =>
      this.#drain(),
    )
    this.#events = deps.app.subscribeEvents(peer.actor.name, (event) => this.#tell(event))
    peer.ws.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
    peer.ws.on('ping', (data: Buffer) => this.#pong(data))
    peer.ws.on('pong', () => {
      this.#lastSeen = this.#now()
    })
    // `ws` closes with the right code by itself; the error only says which one.
    peer.ws.on('error', (error) => deps.log.debug({ err: error }, 'a peer broke the protocol'))
    peer.ws.on('close', () => this.#end())
    // Where it could not begin, the first message tries again and is told why.
    this.#open().catch((thrown: unknown) => deps.log.debug({ err: thrown }, 'no session yet'))
  }

  /** Looks after the connection; called about twice a second. */
  sweep(): void {
    if (this.#closing) return
    const now = this.#now()
    // Time in which this process stood still says nothing of the peer.
    const lateMs = Math.max(0, now - this.#sweptMs - 2 * this.#limits.sweepEveryMs)
    this.#sweptMs = now
    this.#lastSeen += lateMs
    this.#outbox.excuse(lateMs)
    if (!this.#stillValid()) return
    for (const call of this.#calls.values()) {
      if (now - call.since >= runningMs) this.#uncount(call)
    }
    this.#outbox.admitNext()
    this.#drain()
    if (this.#outbox.isStalled(now))
      return this.#close(closeCodes.tooSlow, 'the peer does not read')
    // A peer that we do not listen to cannot show that it lives.
    if (this.#ws.isPaused) this.#lastSeen = now
    if (now - this.#lastSeen > this.#limits.deadAfterMs) return this.#ws.terminate()
    if (now - this.#lastPing < this.#limits.pingEveryMs) return
    this.#lastPing = now
    this.#ws.ping()
  }

  /** A call that waits for something or someone makes room for the next one. */
  #uncount(call: Call): void {
    if (!call.counted) return
    call.counted = false
    this.#running--
  }

  /** Takes no more messages and leaves once what runs is answered. */
  stop(): void {
    this.#stopping = true
    this.#backlog.length = 0
    this.#drain()
    this.#leaveWhenIdle()
  }

  /** The grace is over: what still runs is cancelled. */
  abort(): void {
    for (const { cancellation } of this.#calls.values()) cancellation.abort()
  }

  terminate(): void {
    this.#ws.terminate()
  }

  // Messages in

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#closing || this.#stopping) return
    this.#lastSeen = this.#now()
    if (isBinary) return this.#close(closeCodes.unsupportedData, 'send text frames')
    if (this.#full(data) || this.#backlog.length > 0) {
      // One chunk off the wire holds many messages; those behind the pause wait here.
      this.#backlog.push(data)
      this.#drain()
    } else {
      this.#take(data)
    }
  }

  /** Whether the next message has to wait: for its turn, or for memory that other requests hold. */
  #full(next: Buffer | undefined = this.#backlog[0]): boolean {
    return (
      this.#parsing ||
      this.#running >= this.#limits.socketCallsMax ||
      this.#calls.size >= this.#limits.socketOpenCallsMax ||
      this.#outbox.full ||
      (next !== undefined && !this.#memory.fits(this.#actor.name, next.length))
    )
  }

  #drain(): void {
    if (this.#closing) return
    while (this.#backlog.length > 0 && !this.#full()) {
      const next = this.#backlog.shift()
      if (next) this.#take(next)
      if (this.#closing) return
    }
    const pause = this.#stopping || this.#backlog.length > 0 || this.#full()
    if (pause && !this.#ws.isPaused) this.#ws.pause()
    else if (!pause && this.#ws.isPaused) this.#ws.resume()
  }

  /** @SECURITY Asked on every message, so that a revoked token stops in mid-connection; mcp-socket.test.ts. */
  #stillValid(): boolean {
    if (this.#deps.app.stillValid(this.#actor.name, this.#actor.credential)) return true
    this.#close(closeCodes.tokenInvalid, 'the token is no longer valid')
    return false
  }

  #take(data: Buffer): void {
    if (!this.#stillValid()) return
    const held = this.#memory.hold(this.#actor.name, data.length)
    if (needsSlices(data)) {
      void this.#takeLarge(data, held)
      return
    }
    let value: unknown
    try {
      value = parseRequests(data, this.#limits)
    } catch (thrown) {
      held.release()
      this.#send(this.#faultText(thrown))
      return
    }
    this.#dispatch(value, held)
  }

  async #takeLarge(data: Buffer, held: Held): Promise<void> {
    this.#parsing = true
    this.#drain()
    try {
      const value = await parseRequestsInSlices(data, this.#limits)
      if (this.#closing) held.release()
      else this.#dispatch(value, held)
    } catch (thrown) {
      held.release()
      this.#send(this.#faultText(thrown))
    } finally {
      this.#parsing = false
      this.#drain()
    }
  }

  #faultText(thrown: unknown): string {
    return errorText(null, describeThrown(thrown, this.#deps.ids.next('req'), this.#deps.log).error)
  }

  #dispatch(value: unknown, held: Held): void {
    held.parsed()
    const answer = Array.isArray(value)
      ? this.#answerBatch(value, held)
      : this.#answer(value, held, true)
    if (answer instanceof Promise) void answer.then((text) => this.#answered(text, held))
    else this.#answered(answer, held)
  }

  #answered(text: string | null, held: Held): void {
    if (text !== null) this.#send(text)
    held.release()
  }

  async #answerBatch(values: readonly unknown[], held: Held): Promise<string | null> {
    const { batchMax } = this.#limits
    if (this.#version !== batchingVersion || values.length === 0 || values.length > batchMax) {
      const detail =
        this.#version === batchingVersion
          ? `a batch has 1 to ${batchMax} messages`
          : `only protocol version ${batchingVersion} has batches`
      return errorText(null, rpcError('InvalidRequest', { detail }))
    }
    const texts = await Promise.all(values.map(async (value) => this.#answer(value, held, false)))
    const answers = texts.filter((text) => text !== null)
    return answers.length === 0 ? null : `[${answers.join(',')}]`
  }

  /** The text to send, now or later; null where nothing is answered. */
  #answer(value: unknown, held: Held, alone: boolean): string | null | Promise<string | null> {
    const envelope = readEnvelope(value)
    if (envelope.kind === 'notification') {
      if (envelope.method === 'notifications/cancelled') this.#cancel(envelope.params)
      return null
    }
    if (envelope.kind === 'invalid') {
      // The gate asks a peer nothing, so an answer from it answers nothing.
      const isAnswer = isMembers(value) && ('result' in value || 'error' in value)
      return isAnswer && !('method' in value) ? null : errorText(envelope.id, envelope.error)
    }
    const { id } = envelope
    if (!isMcpId(id)) return this.#refuse(null, 'id must be a string or an integer')
    if (this.#calls.has(id)) return this.#refuse(id, 'a request with this id still runs')
    return this.#request(id, envelope, held, alone)
  }

  #refuse(id: RpcId, detail: string): string {
    return errorText(id, {
      code: rpcCodes.invalidRequest,
      message: `Invalid request: ${detail}`,
    })
  }

  async #request(
    id: string | number,
    request: Request,
    held: Held,
    alone: boolean,
  ): Promise<string | null> {
    const call: Call = {
      cancellation: new Cancellation(),
      since: this.#now(),
      counted: true,
      delivered: false,
    }
    this.#calls.set(id, call)
    this.#running++
    try {
      const text =
        request.method === 'initialize'
          ? await this.#initialize(id, request.params)
          : await this.#call(request, call, held, alone)
      return call.delivered || this.#isUnwanted(call) ? null : text
    } catch (thrown) {
      const requestId = this.#deps.ids.next('req')
      return errorText(id, describeThrown(thrown, requestId, this.#deps.log).error)
    } finally {
      this.#calls.delete(id)
      this.#uncount(call)
      if (this.#ws.isPaused || this.#stopping) setImmediate(() => this.#afterAnswer())
    }
  }

  async #initialize(id: RpcId, params: unknown): Promise<string> {
    if (this.#version !== null) return this.#refuse(id, 'this connection is initialized already')
    const { app } = this.#deps
    const opened = initialize(app, params)
    if ('error' in opened) return errorText(id, opened.error)
    this.#version = opened.version
    const { client } = opened
    const session_id = await this.#open()
    const op = this.#op(session_id)
    if (client) await app.initializeSession(op, { session_id, client })
    const offered = await app.offeredFeatures(op)
    this.#changingLists = offered.changingLists
    const result = opened.result(offered)
    return JSON.stringify({ jsonrpc: '2.0', id, result })
  }

  #call(request: Request, call: Call, held: Held, alone: boolean): Promise<string> {
    // A peer that skips the handshake is served as one of the oldest version.
    this.#version ??= unspokenVersion
    return this.#session === null
      ? this.#open().then((id) => this.#answerIn(id, request, call, held, alone))
      : this.#answerIn(this.#session, request, call, held, alone)
  }

  #answerIn(
    session_id: string,
    request: Request,
    call: Call,
    held: Held,
    alone: boolean,
  ): Promise<string> {
    return answerRequest(
      this.#deps,
      {
        actor: this.#actor,
        session_id,
        cancellation: call.cancellation,
        hold: new Hold(this.#deps.stops),
        waiting: () => {
          this.#uncount(call)
          this.#drain()
        },
        held,
        notify: this.#notify,
        push: this.#push,
        logLevel: this.#logLevel,
        setLogLevel: (level) => {
          this.#logLevel = level
        },
        ...(alone ? { room: this.#room, deliver: (text) => this.#deliver(call, text) } : {}),
      },
      request,
    )
  }

  #deliver(call: Call, text: string): void {
    call.delivered = true
    if (!this.#isUnwanted(call)) this.#send(text)
  }

  /** A cancelled request is not answered; the peer has forgotten it. */
  #isUnwanted(call: Call): boolean {
    return call.cancellation.aborted && !this.#stopping
  }

  /** Runs behind the answer, which goes out when the promise of its request has resolved. */
  #afterAnswer(): void {
    this.#drain()
    this.#leaveWhenIdle()
  }

  #cancel(params: unknown): void {
    const id = isMembers(params) ? params['requestId'] : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return
    this.#calls.get(id)?.cancellation.abort(new GatehouseError('Cancelled'))
  }

  // The session

  #open(): Promise<string> {
    this.#opening ??= this.#openSession().catch((thrown: unknown) => {
      this.#opening = null
      throw thrown
    })
    return this.#opening
  }

  #op(session_id: string | null): TransportOp {
    const who = { actor: this.#actor, session_id }
    return new TransportOp(who, this.#deps.ids.next('req'), never, atOnce)
  }

  async #openSession(): Promise<string> {
    const op = this.#op(null)
    const begun = { transport: 'mcp-websocket', client: null } as const
    const session = await this.#deps.app.openSession(op, begun)
    this.#session = session.session_id
    return session.session_id
  }

  async #endSession(): Promise<void> {
    const session_id = await this.#opening
    if (session_id === null) return
    const op = this.#op(session_id)
    await this.#deps.app.endSession(op, { session_id })
  }

  // Messages out

  #tell(event: GatehouseEvent): boolean | Promise<boolean> {
    if (this.#closing || !this.#stillValid()) return false
    const list = changedListOf(event)
    if (list !== null && !this.#changingLists.includes(list)) return false
    return this.#push(JSON.stringify(notificationOf(event, this.#deps.names)))
  }

  #send(text: string, written?: (taken: boolean) => void): void {
    if (this.#closing) {
      written?.(false)
    } else if (!this.#outbox.send(text, written)) {
      written?.(false)
      this.#close(closeCodes.tooSlow, 'too much waits to be read')
    } else if (this.#outbox.full) this.#drain()
  }

  #pong(data: Buffer): void {
    const now = this.#now()
    this.#lastSeen = now
    if (now - this.#pongsSince >= 1_000) {
      this.#pongsSince = now
      this.#pongs = 0
    }
    if (this.#pongs++ < this.#limits.pongsPerSecond) this.#ws.pong(data)
  }

  // The end

  #leaveWhenIdle(): void {
    if (this.#stopping && this.#calls.size === 0) {
      this.#close(closeCodes.goingAway, 'the server is stopping')
    }
  }

  #close(code: number, reason: string): void {
    if (this.#closing) return
    this.#closing = true
    if (code === closeCodes.tooSlow) {
      const facts = { agent: this.#actor.name, buffered_bytes: this.#ws.bufferedAmount }
      this.#deps.log.warn(facts, 'a connection was closed because its peer does not read')
    }
    this.#outbox.flush()
    this.#ws.close(code, reason)
    // The peer's closing frame can only be read if we read.
    if (this.#ws.isPaused) this.#ws.resume()
    this.#drop()
  }

  /** Answers that are still due will not be sent. */
  #drop(): void {
    this.#backlog.length = 0
    this.abort()
    this.#outbox.close()
  }

  #end(): void {
    this.#closing = true
    this.#events[Symbol.dispose]()
    this.#drop()
    this.#ended()
    this.#endSession().catch((thrown: unknown) => {
      this.#deps.log.warn({ err: thrown, agent: this.#actor.name }, 'a session did not end well')
    })
  }
}
