import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePorts } from '../free-ports.ts'

/** How the way to a server behaves. All but `down` concern connections made from then on. */
export type GateMode =
  | { readonly kind: 'pass' }
  /** Takes the connection and ends it at once. */
  | { readonly kind: 'refuse' }
  /** Takes the connection and never says a word. */
  | { readonly kind: 'silent' }
  /** Passes this many bytes of the server, then cuts: the server hears no more, and ends what it has heard. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Says this in place of the server after so many of its bytes. */
  | { readonly kind: 'garbage'; readonly bytes: Uint8Array; readonly afterBytes: number }
  /** Holds back each chunk of the server for this long. */
  | { readonly kind: 'slow'; readonly chunkMs: number }

/** A port in front of a server: passes, cuts, slows, lies, as a bad network or a broken server does. */
export class TcpGate implements AsyncDisposable {
  #mode: GateMode = { kind: 'pass' }
  #server: Server | null = null
  readonly #sockets = new Set<Socket>()
  /** Connections to the server. */
  readonly #served = new Set<Socket>()
  connections = 0
  /** Pieces that clients have sent so far. */
  sent = 0

  readonly target: number
  readonly port: number

  private constructor(target: number, port: number) {
    this.target = target
    this.port = port
  }

  static async open(targetPort: number): Promise<TcpGate> {
    const [port = 0] = await freePorts(1)
    const gate = new TcpGate(targetPort, port)
    await gate.up()
    return gate
  }

  behave(mode: GateMode): void {
    this.#mode = mode
  }

  /** Cuts what is open. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** From now on nobody listens, until `up`. */
  async down(): Promise<void> {
    const server = this.#server
    this.#server = null
    this.cutAll()
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  async up(): Promise<void> {
    const server = createServer((socket) => this.#take(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.port, '127.0.0.1', resolve)
    })
    this.#server = server
  }

  /** Resolves when the server has ended each connection: of what was cut it does nothing any more. */
  async serverDone(): Promise<void> {
    for (const socket of this.#served) await once(socket, 'close')
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #take(client: Socket): void {
    this.connections += 1
    const mode = this.#mode
    this.#keep(client)
    if (mode.kind === 'refuse') return void client.destroy()
    if (mode.kind === 'silent') return void client.resume()
    const server = connect(this.target, '127.0.0.1')
    this.#keep(server)
    this.#served.add(server)
    server.on('close', () => this.#served.delete(server))
    client.pipe(server)
    client.on('data', () => {
      this.sent += 1
    })
    const leaveClient = () => client.destroy()
    const leaveServer = () => server.destroy()
    server.on('close', leaveClient)
    client.on('close', leaveServer)
    let passed = 0
    const pass = (bytes: Buffer) => {
      if (mode.kind === 'slow') {
        server.pause()
        setTimeout(() => {
          client.write(bytes)
          server.resume()
        }, mode.chunkMs)
        return
      }
      const limit = mode.kind === 'pass' ? Number.POSITIVE_INFINITY : mode.afterBytes
      const left = limit - passed
      passed += bytes.length
      if (bytes.length <= left) return void client.write(bytes)
      server.off('close', leaveClient)
      client.off('close', leaveServer)
      client.unpipe(server)
      server.off('data', pass)
      server.resume()
      server.end()
      client.write(bytes.subarray(0, left))
      // A client that was lied to decides when to leave.
      if (mode.kind === 'garbage') client.write(mode.bytes)
      else client.end(() => client.destroy())
    }
    server.on('data', pass)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down()
  }
}
