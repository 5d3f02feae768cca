import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { rpcCodes } from '@gatehouse/contract'
import { WebSocketServer } from 'ws'
import type { AgentOp } from '../../app/call/op.ts'
import type { GatewayLimits } from '../http/limits.ts'
import { refuseSocket } from '../http/raw-answer.ts'
import { type Refusal, refusals } from '../http/respond.ts'
import { AgentConnections } from './agent-connections.ts'
import { McpSocket, type McpSocketDeps } from './mcp-socket.ts'

const closeTimeoutMs = 5_000

/** Options that `ws` takes and its types do not know yet, beside those that they know. */
const serverOptions = (limits: GatewayLimits) => ({
  noServer: true,
  // @SECURITY A compressed frame of 10 KB may hold 10 MB; websocket.test.ts.
  perMessageDeflate: false,
  maxPayload: limits.bodyBytesMax,
  maxFragments: 64,
  maxBufferedChunks: 1_024,
  closeTimeout: closeTimeoutMs,
  autoPong: false,
  clientTracking: false,
  handleProtocols: (offered: Set<string>): string | false => (offered.has('mcp') ? 'mcp' : false),
})

/** Refusal of a handshake that `ws` finds faulty; its own would be HTML. */
const refusalOf = ({ method }: IncomingMessage, { message }: Error): Refusal =>
  method === 'GET'
    ? {
        status: 400,
        code: rpcCodes.invalidRequest,
        message: `Invalid request: ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
        headers: { 'Sec-WebSocket-Version': '13' },
      }
    : refusals.mcpMethods

/** The WebSockets at `/mcp`. Whoever reaches `accept` has been authenticated. */
export class McpWebSockets {
  readonly #deps: McpSocketDeps
  readonly #connections: AgentConnections
  readonly #server: WebSocketServer
  readonly #sockets = new Set<McpSocket>()

  constructor(deps: McpSocketDeps, connections: AgentConnections) {
    this.#deps = deps
    this.#connections = connections
    this.#server = new WebSocketServer(serverOptions(deps.limits))
    this.#server.on('wsClientError', (error, socket, req) =>
      refuseSocket(socket, refusalOf(req, error)),
    )
  }

  get size(): number {
    return this.#sockets.size
  }

  /** False where the agent has too many connections; otherwise the socket is ours. */
  accept(req: IncomingMessage, raw: Duplex, head: Buffer, actor: AgentOp['actor']): boolean {
    if (!this.#connections.take(actor.name)) return false
    let upgraded = false
    // A handshake that `ws` refuses never becomes a connection; its socket closes all the same.
    raw.once('close', () => {
      if (!upgraded) this.#connections.release(actor.name)
    })
    this.#server.handleUpgrade(req, raw, head, (ws) => {
      upgraded = true
      const socket = new McpSocket(this.#deps, { ws, raw, actor }, () => {
        this.#sockets.delete(socket)
        this.#connections.release(actor.name)
      })
      this.#sockets.add(socket)
    })
    return true
  }

  sweep(): void {
    for (const socket of this.#sockets) socket.sweep()
  }

  stop(): void {
    for (const socket of this.#sockets) socket.stop()
  }

  abort(): void {
    for (const socket of this.#sockets) socket.abort()
  }

  terminate(): void {
    for (const socket of this.#sockets) socket.terminate()
  }
}
