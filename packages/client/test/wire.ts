import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** The network between an agent and the gate, which a test can break. */
export class Wire implements AsyncDisposable {
  readonly url: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #cutting = false
  /** Connections that were made over it. */
  connections = 0

  static async open(port: number): Promise<Wire> {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new Wire(server, port)
  }

  private constructor(server: Server, port: number) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (agent) => this.#join(agent, connect(port, '127.0.0.1')))
  }

  /** Breaks the connection when the next answer is on its way: the call has been made. */
  cutNextAnswer(): void {
    this.#cutting = true
  }

  /** Breaks every connection, now. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    this.#pairs.clear()
  }

  #join(agent: Socket, gate: Socket): void {
    this.connections += 1
    const pair = [agent, gate] as const
    this.#pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        for (const each of pair) each.destroy()
        this.#pairs.delete(pair)
      })
    }
    agent.on('data', (bytes) => void gate.write(bytes))
    gate.on('data', (bytes) => {
      if (!this.#cutting) return void agent.write(bytes)
      this.#cutting = false
      agent.destroy()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
