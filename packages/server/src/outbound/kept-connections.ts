import { setMaxListeners } from 'node:events'
import { Agent, type ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type Target = {
  readonly host: string
  readonly port: number
  readonly protocol: 'http:' | 'https:'
}

export type KeptOptions = {
  readonly target: Target
  /** Makes a connection with all its checks. */
  readonly dial: (target: Target, signal: AbortSignal) => Promise<Socket>
  /** Whether a connection that was made may still be used. */
  readonly isAllowed: (socket: Socket) => boolean
}

/** Many servers close after five seconds without a request, and say so to nobody. */
const idleMsUsual = 4_000
const idleMsMax = 60_000
/** A request that meets the end of its connection fails: it is not sent twice. */
const marginMs = 1_000
/** The name is looked up, and the certificate checked, at least this often. */
const ageMsMax = 5 * 60_000
const freeMax = 8

/** How long a server that says so keeps a connection without a request. */
const hintIn = (header: string | undefined): number | null => {
  const seconds = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i.exec(header ?? '')?.[1]
  return seconds === undefined ? null : Number(seconds) * 1_000 - marginMs
}

/**
 * Connections of one caller to one origin, each used for one request after the other.
 * @SECURITY Nobody else's: what a server knows of a connection is one caller's; outbound/kept-connections.test.ts.
 */
export class KeptConnections extends Agent {
  readonly #options: KeptOptions
  readonly #ended = new AbortController()
  readonly #bornMs = new WeakMap<Duplex, number>()
  readonly #idleMs = new WeakMap<Duplex, number>()

  constructor(options: KeptOptions) {
    // The oldest first: of those that `check` has ended, only the first are passed over.
    super({ keepAlive: true, maxFreeSockets: freeMax, scheduling: 'fifo' })
    this.#options = options
    // Each connection listens while it is made, and many may be made at once.
    setMaxListeners(0, this.#ended.signal)
  }

  serves({ host, port, protocol }: Target): boolean {
    const { target } = this.#options
    return target.host === host && target.port === port && target.protocol === protocol
  }

  override createConnection(
    _options: unknown,
    answer?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { target, dial } = this.#options
    dial(target, this.#ended.signal).then(
      (socket) => {
        this.#bornMs.set(socket, performance.now())
        answer?.(null, socket)
      },
      (cause: Error) => answer?.(cause, undefined as never),
    )
  }

  /** Looks at the connections that wait, before one of them is used. */
  check(): void {
    for (const sockets of Object.values(this.freeSockets))
      for (const socket of sockets ?? []) if (!this.#isGood(socket)) socket.destroy()
  }

  /** Takes in how long the server will wait for the next request. */
  heard(socket: Socket, keepAlive: string | undefined): void {
    this.#idleMs.set(socket, Math.min(hintIn(keepAlive) ?? idleMsUsual, idleMsMax))
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const idleMs = this.#idleMs.get(socket) ?? 0
    if (this.#ended.signal.aborted || idleMs <= 0 || !this.#isGood(socket as Socket)) return false
    super.keepSocketAlive(socket)
    ;(socket as Socket).setTimeout(idleMs)
    return true
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    ;(socket as Socket).setTimeout(0)
    super.reuseSocket(socket, request)
  }

  /** Ends them all, and what runs over them. */
  end(): void {
    this.#ended.abort(new Error('the connections were ended'))
    this.destroy()
  }

  /** @SECURITY The addresses that may be reached can change while a connection waits; outbound/kept-connections.test.ts. */
  #isGood(socket: Socket): boolean {
    const bornMs = this.#bornMs.get(socket) ?? Number.NEGATIVE_INFINITY
    return performance.now() - bornMs < ageMsMax && this.#options.isAllowed(socket)
  }
}
