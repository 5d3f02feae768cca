import type { ServerResponse } from 'node:http'
import { rpcCodes } from '@gatehouse/contract'
import type { AgentOp } from '../../app/call/op.ts'
import type { GatewayLimits } from '../http/limits.ts'
import { type Refusal, tooManyConnections } from '../http/respond.ts'
import type { AgentConnections } from './agent-connections.ts'
import { beginEventStream, writeEvent, writeHeartbeat } from './event-stream.ts'
import { notificationOf } from './notifications.ts'
import type { McpDeps } from './peer.ts'

type Actor = AgentOp['actor']
type PushDeps = Pick<McpDeps, 'app' | 'names'> & {
  readonly limits: GatewayLimits
  readonly now: () => number
}
type Stream = { readonly res: ServerResponse; readonly actor: Actor; lastWrite: number }

const heartbeatMs = 15_000

const alreadyOpen: Refusal = {
  status: 409,
  code: rpcCodes.invalidRequest,
  message: 'Invalid request: this session has a stream already',
}

/** The streams that sessions over Streamable HTTP open with GET to be told of events. */
export class PushStreams {
  readonly #deps: PushDeps
  readonly #connections: AgentConnections
  readonly #streams = new Map<string, Stream>()

  constructor(deps: PushDeps, connections: AgentConnections) {
    this.#deps = deps
    this.#connections = connections
  }

  /** Opens the stream of a session; the answer is a refusal where that cannot be. */
  open(res: ServerResponse, actor: Actor, sessionId: string): Refusal | null {
    // One stream a session, so that no event is told twice.
    if (this.#streams.has(sessionId)) return alreadyOpen
    if (!this.#connections.take(actor.name))
      return tooManyConnections(this.#deps.limits.connectionsPerAgentMax)
    const stream: Stream = { res, actor, lastWrite: this.#deps.now() }
    this.#streams.set(sessionId, stream)
    const events = this.#deps.app.subscribeEvents(actor.name, (event) => {
      if (!this.#mayWrite(stream)) return false
      stream.lastWrite = this.#deps.now()
      const text = JSON.stringify(notificationOf(event, this.#deps.names))
      return new Promise((resolve) => writeEvent(res, text, resolve))
    })
    res.once('close', () => {
      events[Symbol.dispose]()
      this.#streams.delete(sessionId)
      this.#connections.release(actor.name)
    })
    beginEventStream(res)
    writeHeartbeat(res)
    return null
  }

  close(sessionId: string): void {
    this.#streams.get(sessionId)?.res.end()
  }

  sweep(): void {
    const now = this.#deps.now()
    for (const stream of this.#streams.values()) {
      if (!this.#mayWrite(stream) || now - stream.lastWrite < heartbeatMs) continue
      stream.lastWrite = now
      writeHeartbeat(stream.res)
    }
  }

  stop(): void {
    for (const { res } of this.#streams.values()) res.end()
  }

  /** Ends the stream of a token that is no longer valid, or of a peer that does not read. */
  #mayWrite({ res, actor }: Stream): boolean {
    if (res.writableEnded || res.destroyed) return false
    if (res.writableLength > this.#deps.limits.outboundCloseBytes) {
      res.destroy()
      return false
    }
    if (this.#deps.app.stillValid(actor.name, actor.credential)) return true
    res.end()
    return false
  }
}
