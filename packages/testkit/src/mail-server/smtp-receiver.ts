import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type Delivery, SmtpConversation } from './smtp-conversation.ts'
import { type SmtpFault, SmtpFaults } from './smtp-faults.ts'

export type SmtpReceiverOptions = {
  /** Accounts that may log in; empty: nobody needs to. */
  readonly users?: Readonly<Record<string, string>>
  /** Offers STARTTLS, or with `implicit` speaks TLS from the first byte. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly implicit?: boolean }
  /** Takes AUTH and MAIL only under TLS. */
  readonly tlsRequired?: boolean
  /** Also ends a message at a dot between bare line feeds, as the servers do that smuggling aims at. */
  readonly lenient?: boolean
  readonly sizeMax?: number
  /** How long it thinks before it says that it took a mail: time to be killed in. */
  readonly answersAfterMs?: number
  /** Recipients that it refuses with 550. */
  readonly unknown?: readonly string[]
}

/** A small receiver of mail (RFC 5321) that keeps and counts what it takes, and fails when it is told to. */
export class SmtpReceiver implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly deliveries: Delivery[] = []
  /** Every command line, in order, without what was secret. */
  readonly commands: string[] = []
  readonly faults = new SmtpFaults()
  connections = 0
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new Set<() => void>()

  readonly port: number
  readonly #options: SmtpReceiverOptions
  readonly #server: Server

  private constructor(options: SmtpReceiverOptions, server: Server, port: number) {
    this.#options = options
    this.#server = server
    this.port = port
  }

  static async open(options: SmtpReceiverOptions = {}): Promise<SmtpReceiver> {
    let receiver: SmtpReceiver | null = null
    const take = (socket: Socket) => receiver?.take(socket)
    const { tls } = options
    const server: Server = tls?.implicit
      ? createTlsServer({ cert: tls.cert, key: tls.key }, take)
      : createServer(take)
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    receiver = new SmtpReceiver(options, server, (server.address() as AddressInfo).port)
    return receiver
  }

  fail(...faults: SmtpFault[]): void {
    this.faults.set(faults)
  }

  /** How often a message was taken, by its Message-ID. */
  countOf(messageId: string): number {
    return this.deliveries.filter(({ message_id }) => message_id === messageId).length
  }

  /** Resolves once so many messages were taken in all. */
  async taken(count: number): Promise<void> {
    while (this.deliveries.length < count)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  take(socket: Socket): void {
    this.connections += 1
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    const conversation = new SmtpConversation(socket, {
      ...this.#options,
      faults: this.faults,
      heard: (line) => this.commands.push(line),
      took: (delivery) => {
        this.deliveries.push(delivery)
        for (const wake of this.#waiting) wake()
        this.#waiting.clear()
      },
    })
    conversation.begin()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
