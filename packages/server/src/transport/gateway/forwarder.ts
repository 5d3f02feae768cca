import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import type { AuthenticatedAgent } from '../../app/agents/agent-directory.ts'
import type { MemoryBudget } from '../../app/call/memory-budget.ts'
import type { Way, Ways } from '../../app/nodes/ways.ts'
import { memoryTaken } from '../http/respond.ts'
import { answerHeaders, requestHeaders, requestText } from './forwarded-headers.ts'
import { type GatewayRequest, refuseRequest } from './gateway-request.ts'
import type { NodeLinks } from './node-links.ts'

export type ForwarderDeps = {
  readonly links: NodeLinks
  readonly ways: Pick<Ways, 'isAway' | 'to'>
  readonly memory: MemoryBudget
}

/** Agent that asks, and the address that it asks from. */
export type Asking = { readonly agent: AuthenticatedAgent; readonly address: string | undefined }

type ByNode = Extract<GatewayRequest, { by: 'node' }>
type ByFastPath = Extract<GatewayRequest, { by: 'fast path' }>

/** A WebSocket of an agent, and the connection to the node that serves it. */
type Pair = { readonly client: Duplex; readonly link: Socket; answered: boolean }

/**
 * Forwards what an agent asks to the node that has its folders, which serves it as if it had come there: nothing is decided
 * here but who it is. Where that node can't be reached it is served here, and calls that reach into folders are refused.
 */
export class Forwarder {
  readonly #deps: ForwarderDeps
  readonly #streams = new Set<ServerResponse>()
  readonly #pairs = new Set<Pair>()
  #stopping = false

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
  }

  /**
   * Whether what comes over the connection may be for another node.
   * @SECURITY What another node forwarded goes no further: two nodes never pass it to and fro; forwarder.test.ts.
   */
  concerns(socket: object, agent: AuthenticatedAgent): boolean {
    return this.#deps.ways.isAway(agent) && !this.#deps.links.isLink(socket)
  }

  /** Whether another node answers it. */
  async request(request: GatewayRequest, asking: Asking): Promise<boolean> {
    const way = await this.#wayTo(asking)
    if (!way) return false
    return request.by === 'node'
      ? this.#stream(way, request, asking)
      : this.#whole(way, request, asking)
  }

  /** Whether another node serves the WebSocket. `token` may have stood in the address. */
  async upgrade(
    { req, socket, head }: { req: IncomingMessage; socket: Duplex; head: Buffer },
    { token, ...asking }: Asking & { readonly token: string },
  ): Promise<boolean> {
    const way = await this.#wayTo(asking)
    const link = way && (await this.#deps.links.connect(way).catch(() => null))
    if (!link) return false
    const pair: Pair = { client: socket, link, answered: false }
    this.#pairs.add(pair)
    const ended = (): void => {
      this.#pairs.delete(pair)
      socket.destroy()
      link.destroy()
    }
    for (const side of [socket, link]) side.on('error', ended).on('close', ended)
    socket.on('data', () => (pair.answered = false))
    link.on('data', () => {
      pair.answered = true
      if (this.#stopping) this.#endQuiet(pair)
    })
    link.write(requestText(req, { ...asking, token }))
    if (head.length > 0) link.write(head)
    socket.pipe(link)
    link.pipe(socket)
    if (socket.destroyed) ended()
    return true
  }

  /** Ends what waits for nothing. Whose last word was not the other node's may wait for its answer. */
  stop(): void {
    this.#stopping = true
    for (const res of this.#streams) res.end()
    for (const pair of this.#pairs) this.#endQuiet(pair)
  }

  terminate(): void {
    for (const { client } of this.#pairs) client.destroy()
  }

  #endQuiet({ client, answered }: Pair): void {
    if (answered) client.end()
  }

  /** Without the database nothing is known of other nodes; what can't be done here then, the call says. */
  #wayTo({ agent }: Asking): Promise<Way | null> {
    return this.#deps.ways.to(agent).catch(() => null)
  }

  /** A request whose body and answer may be streams. */
  #stream(way: Way, request: ByNode, asking: Asking): Promise<boolean> {
    const { method, path, req, res, continues } = request
    const out = this.#deps.links.request(way, {
      ...{ method, path },
      headers: requestHeaders(request.rawHeaders, asking.address),
    })
    res.once('close', () => out.destroy())
    return new Promise((resolve) => {
      let isSent = false
      out.once('socket', () => {
        isSent = true
        if (continues) res.writeContinue()
        req.pipe(out)
        resolve(true)
      })
      out.on('response', (answer) => {
        res.writeHead(answer.statusCode ?? 502, answerHeaders(answer.rawHeaders))
        res.flushHeaders()
        if (method === 'GET') this.#streams.add(res)
        pipeline(answer, res, () => {
          this.#streams.delete(res)
          // Bytes that it still sends are read and dropped: whoever answered wants no more of them.
          req.unpipe(out)
          req.resume()
        })
      })
      out.on('error', () => {
        if (!isSent) return resolve(false)
        // The outcome is not known, as where a connection breaks.
        if (!res.headersSent) res.destroy()
      })
    })
  }

  /** A request that is there as a whole, as its answer will be. */
  #whole(way: Way, request: ByFastPath, { agent, address }: Asking): Promise<boolean> {
    const { method, path, res, body } = request
    const { links, memory } = this.#deps
    const held = memory.take(agent.name, body.length)
    if (!held) {
      refuseRequest(request, memoryTaken(memory.perAgentMax))
      return Promise.resolve(true)
    }
    const out = links.request(way, {
      ...{ method, path },
      headers: requestHeaders(request.rawHeaders, address),
    })
    res.on('close', () => {
      out.destroy()
      held.release()
    })
    return new Promise((resolve) => {
      let isSent = false
      out.once('socket', () => {
        isSent = true
        out.end(body)
        resolve(true)
      })
      out.on('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('error', () => res.destroy())
        answer.once('end', () => {
          res.writeHead(answer.statusCode ?? 502, answerHeaders(answer.rawHeaders))
          res.end(Buffer.concat(chunks).toString())
          held.answered(res.writableLength)
        })
      })
      out.on('error', () => {
        if (isSent) return res.destroy()
        held.release()
        resolve(false)
      })
    })
  }
}
