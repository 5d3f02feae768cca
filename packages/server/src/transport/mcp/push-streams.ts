import type { ServerResponse } from 'node:http'
import { rpcCodes } from '@gatehouse/contract'
import type { AgentOp } from '../../app/call/op.ts'
import type { ChangingLists } from '../../app/upstreams/features.ts'
import type { GatewayLimits } from '../http/limits.ts'
import { type Refusal, tooManyConnections } from '../http/respond.ts'
import type { AgentConnections } from './agent-connections.ts'
import { beginEventStream, writeEvent, writeHeartbeat } from './event-stream.ts'
import type { McpDeps } from './mcp-call.ts'
import { changedListOf, notificationOf } from './notifications.ts'

type Actor = AgentOp['actor']
type PushDeps = Pick<McpDeps, 'app' | 'names'> & {
  readonly limits: GatewayLimits
  readonly now: () => number
}

const heartbeatMs = 15_000

const alreadyOpen: Refusal = {
  status: 409,
  code: rpcCodes.invalidRequest,
  message: 'Invalid request: this session has a stream already',
}

/** An answer that stays open for what an agent is told. */
export class PushStream {
  readonly #deps: PushDeps
  readonly #res: ServerResponse
  readonly #actor: Actor
  readonly #farewell: string | undefined
  /** Told whether a message was taken. An answer that closes meanwhile need not call back. */
  readonly #unsure = new Set<(taken: boolean) => void>()
  #lastWrite: number

  /** `farewell`: the last message where this server ends the stream by itself. */
  constructor(deps: PushDeps, res: ServerResponse, actor: Actor, farewell: string | undefined) {
    this.#deps = deps
    this.#res = res
    this.#actor = actor
    this.#farewell = farewell
    this.#lastWrite = deps.now()
    res.once('close', () => {
      for (const written of this.#unsure) written(false)
      this.#unsure.clear()
    })
    beginEventStream(res)
  }

  /** Writes a message; whether the system has taken it for the peer. */
  write(text: string): boolean | Promise<boolean> {
    if (!this.mayWrite()) return false
    this.#lastWrite = this.#deps.now()
    return new Promise((resolve) => {
      this.#unsure.add(resolve)
      writeEvent(this.#res, text, (taken) => {
        if (this.#unsure.delete(resolve)) resolve(taken)
      })
    })
  }

  /** Ends the stream of a token that is no longer valid, or of a peer that does not read. */
  mayWrite(): boolean {
    const { app, limits } = this.#deps
    if (this.#res.writableEnded || this.#res.destroyed) return false
    if (this.#res.writableLength > limits.outboundCloseBytes) {
      this.#res.destroy()
      return false
    }
    if (app.stillValid(this.#actor.name, this.#actor.credential)) return true
    this.#res.end()
    return false
  }

  heartbeat(): void {
    this.#lastWrite = this.#deps.now()
    writeHeartbeat(this.#res)
  }

  sweep(): void {
    if (this.mayWrite() && this.#deps.now() - this.#lastWrite >= heartbeatMs) this.heartbeat()
  }

  end(): void {
    if (this.#farewell !== undefined && this.mayWrite()) writeEvent(this.#res, this.#farewell)
    this.#res.end()
  }
}

/** The streams that clients over Streamable HTTP open to be told of events. */
export class PushStreams {
  readonly #deps: PushDeps
  readonly #connections: AgentConnections
  readonly #streams = new Set<PushStream>()
  readonly #ofSessions = new Map<string, PushStream>()

  constructor(deps: PushDeps, connections: AgentConnections) {
    this.#deps = deps
    this.#connections = connections
  }

  /** Makes a stream of an answer; a refusal where the agent has too many connections. */
  begin(res: ServerResponse, actor: Actor, farewell?: string): PushStream | Refusal {
    if (!this.#connections.take(actor.name))
      return tooManyConnections(this.#deps.limits.connectionsPerAgentMax)
    const stream = new PushStream(this.#deps, res, actor, farewell)
    this.#streams.add(stream)
    res.once('close', () => {
      this.#streams.delete(stream)
      this.#connections.release(actor.name)
    })
    return stream
  }

  /** Opens the stream of a session with GET; the answer is a refusal where that cannot be. */
  open(
    res: ServerResponse,
    actor: Actor,
    sessionId: string,
    /** Lists of which the client was promised that it is told. */
    changingLists: ChangingLists,
  ): Refusal | null {
    // The close came before anyone listened for it, and would never give its place back.
    if (res.destroyed) return null
    // One stream a session, so that no event is told twice.
    if (this.#ofSessions.has(sessionId)) return alreadyOpen
    const stream = this.begin(res, actor)
    if (!(stream instanceof PushStream)) return stream
    this.#ofSessions.set(sessionId, stream)
    const events = this.#deps.app.subscribeEvents(actor.name, (event) => {
      const list = changedListOf(event)
      if (list !== null && !changingLists.includes(list)) return false
      return stream.write(JSON.stringify(notificationOf(event, this.#deps.names)))
    })
    const session = this.#deps.app.holdSession({ actor, session_id: sessionId })
    res.once('close', () => {
      events[Symbol.dispose]()
      session[Symbol.dispose]()
      this.#ofSessions.delete(sessionId)
    })
    stream.heartbeat()
    return null
  }

  /** Writes a message to the stream of a session; whether the system has taken it. */
  push(sessionId: string, text: string): boolean | Promise<boolean> {
    return this.#ofSessions.get(sessionId)?.write(text) ?? false
  }

  close(sessionId: string): void {
    this.#ofSessions.get(sessionId)?.end()
  }

  sweep(): void {
    for (const stream of this.#streams) stream.sweep()
  }

  stop(): void {
    for (const stream of this.#streams) stream.end()
  }
}
