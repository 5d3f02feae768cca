import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { capabilityName } from '@gatehouse/contract'
import type { AuthenticatedAgent } from '../../app/agents/agent-directory.ts'
import type { InvokeInput } from '../../app/call/invoke.ts'
import type { Way, Ways } from '../../app/nodes/ways.ts'
import { isMembers, readEnvelope } from '../http/envelope.ts'
import type { FastResponse } from './fast-path/fast-response.ts'
import { answerHeaders, requestHeaders, requestText } from './forwarded-headers.ts'
import type { GatewayRequest } from './gateway-request.ts'
import type { NodeLinks } from './node-links.ts'

export type ForwarderDeps = {
  readonly links: NodeLinks
  readonly ways: Pick<Ways, 'isAway' | 'isOfNode' | 'to'>
}

/** Agent that asks, and the address that it asks from, which is read where somebody wants it. */
export type Asking = {
  readonly agent: AuthenticatedAgent
  readonly address: () => string | undefined
}

/** A WebSocket of an agent, and the connection to the node that serves it. */
type Pair = { readonly client: Duplex; readonly link: Socket; answered: boolean }

const statusOf = ({ statusCode }: IncomingMessage): number => statusCode ?? 502

/** Passes an answer on as it comes. */
const relay = (answer: IncomingMessage, res: ServerResponse): void => {
  res.writeHead(statusOf(answer), answerHeaders(answer.rawHeaders))
  res.flushHeaders()
  // One that breaks off is broken off here, too.
  pipeline(answer, res, () => undefined)
}

/** Passes an answer on once it is there. */
const relayWhole = (answer: IncomingMessage, res: FastResponse): void => {
  const chunks: Buffer[] = []
  answer.on('data', (chunk: Buffer) => chunks.push(chunk))
  answer.once('error', () => res.destroy())
  answer.once('end', () => {
    res.writeHead(statusOf(answer), answerHeaders(answer.rawHeaders))
    res.end(Buffer.concat(chunks).toString())
  })
}

/** Elements of a body, each with the call that it makes, where it makes one. */
const callsIn = (value: unknown): readonly InvokeInput[] =>
  (Array.isArray(value) ? value : [value]).flatMap((element: unknown) => {
    const envelope = readEnvelope(element)
    if (envelope.kind === 'invalid' || !isMembers(envelope.params)) return []
    const { capability, name, arguments: args } = envelope.params
    if (envelope.method === 'capabilities.invoke' && typeof capability === 'string')
      return [{ capability, arguments: args }]
    if (envelope.method === 'tools/call' && typeof name === 'string')
      return [{ capability: capabilityName(name), arguments: args }]
    return []
  })

/**
 * Forwards calls that are for the node with the agent's folders to that node, which serves them as if they had come there: nothing
 * is decided here but who asks. Where it can't be reached they are served here, and those that reach into folders are refused.
 */
export class Forwarder {
  readonly #deps: ForwarderDeps
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

  /** Whether a body has a call for the node with the folders. */
  isOfNode(value: unknown): boolean {
    return callsIn(value).some((call) => this.#deps.ways.isOfNode(call))
  }

  /** Whether another node answers it. */
  async request(request: GatewayRequest, asking: Asking, body: Buffer): Promise<boolean> {
    const way = await this.#wayTo(asking)
    if (!way) return false
    const { method, path, res, rawHeaders } = request
    const headers = requestHeaders(rawHeaders, asking.address(), body.length)
    const out = await this.#deps.links.request(way, { method, path, headers }).catch(() => null)
    if (!out) return false
    out.on('response', (answer) => {
      if (request.by === 'node') relay(answer, request.res)
      else relayWhole(answer, request.res)
    })
    out.on('error', () => {
      // The outcome is not known, as where a connection breaks.
      if (!res.headersSent) res.destroy()
    })
    res.on('close', () => out.destroy())
    if (res.destroyed) out.destroy()
    else out.end(body)
    return true
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
    link.write(requestText(req, { token, address: asking.address() }))
    if (head.length > 0) link.write(head)
    socket.pipe(link)
    link.pipe(socket)
    if (socket.destroyed) ended()
    return true
  }

  /** Ends what waits for nothing. Whose last word was not the other node's may wait for its answer. */
  stop(): void {
    this.#stopping = true
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
}
