import { Agent, type ClientRequest, type RequestOptions, request } from 'node:http'
import type { Socket } from 'node:net'
import { connect, createServer, type TLSSocket } from 'node:tls'
import type { Way, Ways } from '../../app/nodes/ways.ts'
import { openRequest } from '../../connections/open-request.ts'
import type { Log } from '../../ports/log.ts'
import { boundHandshakes } from '../http/handshakes.ts'
import type { HeadlessSockets } from '../http/headless-sockets.ts'

export type NodeLinksOptions = {
  readonly ways: Pick<Ways, 'all' | 'isKnown' | 'failed' | 'reached'>
  /** Certificate and key of this node as PEM: other nodes know it by the fingerprint. */
  readonly identity: { readonly cert: string; readonly key: string }
  readonly log: Log
}

/** Longer than any network between nodes takes; requests are served here meanwhile, as far as they can be. */
const connectMs = 5_000
const handshakeMs = 5_000
const lookEveryMs = 10_000
/** A node may be too busy for a handshake; one that is not reached for so many looks, and says nothing meanwhile, is cut off. */
const failuresMax = 3
const tlsVersion = 'TLSv1.3'
/** First byte of a TLS connection: a record of its handshake. */
const handshakeRecord = 0x16
/** First byte from a node that serves a connection: in TLS 1.3 a client is connected before its certificate was looked at. */
const admission = Buffer.of(0x06)

/** Whether a connection begins as one of TLS does. */
export const isTls = (head: Buffer): boolean => head[0] === handshakeRecord

const fingerprintOf = (socket: TLSSocket): string | null =>
  socket.getPeerX509Certificate()?.fingerprint256 ?? null

/** Connections to one node, kept open for the next request. */
class LinkAgent extends Agent {
  readonly #open: () => Promise<TLSSocket>

  constructor(open: () => Promise<TLSSocket>) {
    super({ keepAlive: true, maxFreeSockets: 64 })
    this.#open = open
  }

  override createConnection(
    _options: unknown,
    opened?: (cause: Error | null, socket: TLSSocket) => void,
  ): undefined {
    this.#open().then(
      (socket) => opened?.(null, socket),
      (cause: Error) => opened?.(cause, undefined as never),
    )
  }
}

type Link = {
  readonly way: Way
  readonly agent: LinkAgent
  readonly sockets: Set<TLSSocket>
  /** Looks in turn at which it could not be reached. */
  failures: number
  /** Bytes that had come over the connections of now at the last look. */
  bytesRead: number
}

const bytesReadOver = ({ sockets }: Link): number =>
  [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)

/**
 * Connections between nodes, on the port of the gateway: TLS in which each side shows a certificate of its own and knows the
 * other's from the database, where it is signed with the key that nodes have in common.
 */
export class NodeLinks implements Disposable {
  readonly #options: NodeLinksOptions
  readonly #server: ReturnType<typeof createServer>
  readonly #handshakes: HeadlessSockets
  readonly #linked = new WeakSet<object>()
  readonly #links = new Map<string, Link>()
  #looking: NodeJS.Timeout | null = null
  /** Gets the connections of other nodes. */
  serve: (socket: TLSSocket) => void = (socket) => socket.destroy()

  constructor(options: NodeLinksOptions) {
    this.#options = options
    this.#server = createServer({
      ...options.identity,
      minVersion: tlsVersion,
      requestCert: true,
      // A fingerprint is compared instead, in `#admit`.
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
    })
    this.#handshakes = boundHandshakes(this.#server)
    this.#server.on('secureConnection', (secured) => void this.#admit(secured))
  }

  /** Looks now and then whether the other nodes can be reached, and leaves those that are gone. */
  start(): void {
    const look = (): void => {
      this.look().catch((err: unknown) =>
        this.#options.log.warn({ err }, 'other nodes could not be looked for'),
      )
    }
    this.#looking = setInterval(look, lookEveryMs)
    this.#looking.unref()
    look()
  }

  /** Takes a paused connection that begins with `head`, as another node's may. */
  secure(socket: Socket, head: Buffer): void {
    socket.unshift(head)
    socket.on('error', () => socket.destroy())
    this.#server.emit('connection', socket)
  }

  /** Whether a request that comes over it was forwarded by another node. */
  isLink(socket: object): boolean {
    return this.#linked.has(socket)
  }

  /** A connection to that node. Raises where there is none. */
  async connect(way: Way): Promise<TLSSocket> {
    const { ways } = this.#options
    try {
      const socket = await this.#dial(way)
      ways.reached(way.node)
      return socket
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      ways.failed(way, code ?? message)
      throw cause
    }
  }

  /** Begins a request over a connection that is open, a kept one where there is one. Raises where there is none. */
  request(way: Way, options: RequestOptions): Promise<ClientRequest> {
    return openRequest(() => request({ ...options, agent: this.#linkTo(way).agent }))
  }

  /** Leaves nodes that are gone or cut off: one that hangs, or that the network lost, closes nothing by itself. */
  async look(): Promise<void> {
    const running = await this.#options.ways.all()
    const certificates = new Set(running.map(({ certificate }) => certificate))
    for (const [name, { way }] of this.#links)
      if (!certificates.has(way.certificate)) this.#leave(name)
    await Promise.all(running.map((way) => this.#probe(way)))
  }

  [Symbol.dispose](): void {
    if (this.#looking) clearInterval(this.#looking)
    this.#handshakes.closeAll()
    for (const name of this.#links.keys()) this.#leave(name)
  }

  /** @SECURITY A client that shows no certificate of a node that runs is told nothing; forwarder.test.ts. */
  async #admit(secured: TLSSocket): Promise<void> {
    secured.on('error', () => secured.destroy())
    const fingerprint = fingerprintOf(secured)
    const isNode =
      fingerprint !== null &&
      (await this.#options.ways.isKnown(fingerprint).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'another node could not be looked up')
        return false
      }))
    if (!isNode || secured.destroyed) return void secured.destroy()
    this.#linked.add(secured)
    secured.write(admission)
    this.serve(secured)
  }

  /** @SECURITY Nothing is sent to a server that shows another certificate than that node's; forwarder.test.ts. */
  #dial(way: Way): Promise<TLSSocket> {
    const { host, port, certificate } = way
    return new Promise((resolve, reject) => {
      const socket = connect({
        ...{ host, port, ...this.#options.identity, minVersion: tlsVersion },
        // A fingerprint is compared instead, below.
        rejectUnauthorized: false,
      })
      const late = setTimeout(
        () => socket.destroy(new Error(`no answer within ${connectMs / 1_000} s`)),
        connectMs,
      )
      socket.once('error', reject)
      socket.once('close', () => {
        clearTimeout(late)
        reject(new Error('the connection was closed'))
      })
      socket.once('secureConnect', () => {
        if (fingerprintOf(socket) !== certificate)
          socket.destroy(new Error('another certificate is shown there'))
      })
      socket.once('readable', () => {
        if (socket.destroyed || socket.read(1) === null) return
        clearTimeout(late)
        socket.off('error', reject)
        socket.setNoDelay(true)
        socket.setKeepAlive(true, lookEveryMs)
        this.#keep(way, socket)
        resolve(socket)
      })
    })
  }

  #keep(way: Way, socket: TLSSocket): void {
    const { sockets } = this.#linkTo(way)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  #linkTo(way: Way): Link {
    const known = this.#links.get(way.node)
    if (known?.way.certificate === way.certificate) return known
    this.#leave(way.node)
    const agent = new LinkAgent(() => this.connect(way))
    const link = { way, agent, sockets: new Set<TLSSocket>(), failures: 0, bytesRead: 0 }
    this.#links.set(way.node, link)
    return link
  }

  async #probe(way: Way): Promise<void> {
    const link = this.#linkTo(way)
    try {
      const socket = await this.connect(way)
      socket.destroy()
      link.failures = 0
    } catch (err) {
      const { node, host, port } = way
      this.#options.log.debug({ err, node, host, port }, 'a node could not be reached')
      link.failures = bytesReadOver(link) === link.bytesRead ? link.failures + 1 : 1
      if (link.failures >= failuresMax) this.#leave(node)
    }
    link.bytesRead = bytesReadOver(link)
  }

  #leave(name: string): void {
    const link = this.#links.get(name)
    if (!link) return
    this.#links.delete(name)
    link.agent.destroy()
    for (const socket of link.sockets) socket.destroy()
  }
}
