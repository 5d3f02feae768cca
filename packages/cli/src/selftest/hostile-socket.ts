import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type Run, untilAccepted } from './installation.ts'

/** End of a connection: the code of the frame that closed it, null where it just ended. */
export type Ending = { readonly code: number | null }

type Frame = {
  readonly opcode: number
  readonly payload?: Buffer | string
  readonly fin?: boolean
  readonly rsv?: number
  readonly masked?: boolean
  /** Length that the header declares, where it is not that of the payload. */
  readonly declared?: bigint
}

export const opcodes = { continuation: 0, text: 1, close: 8, ping: 9 } as const

const lengthBytes = (length: bigint, mask: number): Buffer => {
  if (length < 126n) return Buffer.of(mask | Number(length))
  const wide = length > 0xffffn
  const bytes = Buffer.alloc(wide ? 9 : 3)
  bytes[0] = mask | (wide ? 127 : 126)
  if (wide) bytes.writeBigUInt64BE(length, 1)
  else bytes.writeUInt16BE(Number(length), 1)
  return bytes
}

/** A frame as any client may send it, by the protocol or against it. */
export const frame = ({
  opcode,
  payload = '',
  fin = true,
  rsv = 0,
  masked = true,
  declared,
}: Frame): Buffer => {
  const body = Buffer.from(payload)
  const first = Buffer.of((fin ? 0x80 : 0) | (rsv << 4) | opcode)
  const length = lengthBytes(declared ?? BigInt(body.length), masked ? 0x80 : 0)
  if (!masked) return Buffer.concat([first, length, body])
  const mask = randomBytes(4)
  const hidden = body.map((byte, i) => byte ^ (mask[i % 4] as number))
  return Buffer.concat([first, length, mask, hidden])
}

/** A WebSocket at `/mcp` that may break every rule: it counts the texts that come, and remembers how it ended. */
export class HostileSocket {
  readonly #socket: Socket
  #pending: Buffer = Buffer.alloc(0)
  /** Bytes of a frame that are still to come. */
  #skip = 0
  #code: number | null = null
  #waiting: (() => void) | null = null
  /** Texts that came. */
  texts = 0
  readonly ended: Promise<Ending>

  private constructor(socket: Socket, head: Buffer) {
    this.#socket = socket
    this.ended = new Promise((resolve) => {
      socket.once('close', () => resolve({ code: this.#code }))
    })
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#take(head)
  }

  /** The status of the answer where it is no 101. With 503 the service has too much to do, whoever asks. */
  static open(run: Run, token: string): Promise<HostileSocket | number> {
    return untilAccepted(
      () => HostileSocket.#openOnce(run, token),
      (opened) => (opened === 503 ? 1 : null),
    )
  }

  static async #openOnce(run: Run, token: string): Promise<HostileSocket | number> {
    const { port } = new URL(run.gateway_url)
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
    socket.on('error', () => undefined)
    const head =
      'GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${token}\r\n\r\n`
    socket.write(head)
    let answer: Buffer = Buffer.alloc(0)
    return new Promise((resolve) => {
      const take = (chunk: Buffer): void => {
        answer = Buffer.concat([answer, chunk])
        const end = answer.indexOf('\r\n\r\n')
        if (end < 0) return
        socket.off('data', take)
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1])
        if (status === 101) return resolve(new HostileSocket(socket, answer.subarray(end + 4)))
        socket.destroy()
        resolve(status)
      }
      socket.on('data', take)
      socket.once('close', () => resolve(0))
    })
  }

  send(...frames: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(frames))
  }

  call(id: number, name: string, args: object): void {
    const params = { name, arguments: args }
    const payload = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
    this.send(frame({ opcode: opcodes.text, payload }))
  }

  /** Resolves with the next text, or with the end. */
  async next(): Promise<void> {
    await Promise.race([
      this.ended,
      new Promise<void>((resolve) => {
        this.#waiting = resolve
      }),
    ])
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** A TCP reset, in the middle of whatever is under way. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const skipped = Math.min(this.#skip, chunk.length)
    this.#skip -= skipped
    this.#pending = Buffer.concat([this.#pending, chunk.subarray(skipped)])
    while (this.#skip === 0 && this.#readFrame()) continue
  }

  #readFrame(): boolean {
    const [first, second] = this.#pending
    if (first === undefined || second === undefined) return false
    const short = second & 0x7f
    const headBytes = short === 127 ? 10 : short === 126 ? 4 : 2
    if (this.#pending.length < headBytes + 2 && short >= 2) return false
    const length =
      short === 127
        ? Number(this.#pending.readBigUInt64BE(2))
        : short === 126
          ? this.#pending.readUInt16BE(2)
          : short
    const opcode = first & 0x0f
    if (opcode === opcodes.close) this.#code = length >= 2 ? this.#pending.readUInt16BE(2) : null
    if (opcode === opcodes.text) {
      this.texts += 1
      this.#waiting?.()
    }
    const here = Math.min(length, this.#pending.length - headBytes)
    this.#skip = length - here
    this.#pending = this.#pending.subarray(headBytes + here)
    return true
  }
}
