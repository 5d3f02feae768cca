import {
  request as begin,
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { freePorts } from '../free-ports.ts'

/** A request as it comes by. */
export type PassingRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Treatment of a request by the gate; null lets it pass. */
export type GateDeed =
  | null
  /** Answers itself; the server never sees it. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Buffer
    }
  /** Ends the connection: before the server sees it, or after, without its answer or in the middle of it. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' | 'within' }
  /** The server gets it, and nobody hears of it. */
  | { readonly kind: 'silence' }
  /** Bytes that are no HTTP. */
  | { readonly kind: 'garbage'; readonly bytes: string }
  /** Passes, so much later. */
  | { readonly kind: 'slow'; readonly ms: number }

/** A port in front of an HTTP server that passes, answers itself, cuts, lies or goes away. */
export class HttpGate implements AsyncDisposable {
  readonly target: number
  readonly port: number
  readonly seen: PassingRequest[] = []
  /** Answers of the server, whether or not anybody heard them. */
  readonly replies: { readonly method: string; readonly path: string; readonly status: number }[] =
    []
  decide: (request: PassingRequest) => GateDeed = () => null
  #server: Server | null = null
  readonly #sockets = new Set<Socket>()

  private constructor(target: number, port: number) {
    this.target = target
    this.port = port
  }

  static async open(target: number): Promise<HttpGate> {
    const [port = 0] = await freePorts(1)
    const gate = new HttpGate(target, port)
    await gate.up()
    return gate
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  async up(): Promise<void> {
    const server = createServer((asked, answer) => {
      const chunks: Buffer[] = []
      asked.on('data', (chunk: Buffer) => chunks.push(chunk))
      asked.on('error', () => {})
      asked.on('end', () => {
        const { method = '', url: path = '', headers } = asked
        const request = { method, path, headers, body: Buffer.concat(chunks) }
        this.seen.push(request)
        this.#treat(request, answer, this.decide(request))
      })
    })
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.port, '127.0.0.1', resolve)
    })
    this.#server = server
  }

  /** From now on nobody listens, until `up`. */
  async down(): Promise<void> {
    const server = this.#server
    this.#server = null
    for (const socket of this.#sockets) socket.destroy()
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  #treat(request: PassingRequest, answer: ServerResponse, deed: GateDeed): void {
    const { socket } = answer
    answer.on('error', () => {})
    if (deed === null) return this.#pass(request, answer, 'whole')
    switch (deed.kind) {
      case 'answer':
        answer.writeHead(deed.status, { ...deed.headers })
        answer.end(deed.body ?? '')
        return
      case 'cut':
        if (deed.when === 'before') socket?.destroy()
        else this.#pass(request, answer, deed.when === 'after' ? 'none' : 'half')
        return
      case 'silence':
        return this.#pass(request, answer, 'silence')
      case 'garbage':
        socket?.end(deed.bytes)
        return
      case 'slow':
        setTimeout(() => this.#pass(request, answer, 'whole'), deed.ms)
    }
  }

  #pass(
    { method, path, headers, body }: PassingRequest,
    answer: ServerResponse,
    how: 'whole' | 'half' | 'none' | 'silence',
  ): void {
    const { socket } = answer
    const passed = { ...headers, connection: 'close' }
    const onward = begin(
      { host: '127.0.0.1', port: this.target, method, path, headers: passed, agent: false },
      (reply) => {
        const chunks: Buffer[] = []
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('end', () => {
          const all = Buffer.concat(chunks)
          this.replies.push({ method, path, status: reply.statusCode ?? 0 })
          if (how === 'silence') return
          if (how === 'none') return void socket?.destroy()
          const { 'transfer-encoding': _chunked, ...rest } = reply.headers
          answer.writeHead(reply.statusCode ?? 502, { ...rest, 'content-length': all.length })
          if (how === 'whole') return void answer.end(all)
          answer.flushHeaders()
          answer.write(all.subarray(0, all.length >> 1), () => socket?.destroy())
        })
      },
    )
    onward.on('error', () => socket?.destroy())
    onward.end(body)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down()
  }
}
