import { createHash, randomBytes } from 'node:crypto'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { Socket as Stream } from 'node:net'
import { UnexpectedAnswer, Unreachable } from '../gatehouse-error.ts'
import { isMembers, parseJson } from '../members.ts'
import { toRpcError } from '../to-error.ts'
import { encodeFrame, FrameReader, MessageReader, opcodes } from './frames.ts'
import type { OpenSocket, Socket, SocketListener } from './socket.ts'

const handshakeMs = 15_000
/** The gate pings every 20 s: a connection that is silent for longer is gone. */
const silentMs = 60_000
const refusalBytesMax = 64 * 1024
const protocolError = 1002
/** Stands for a close that names no code. */
const noCode = 1005

const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

/** Node 20 has no WebSocket, and that of later ones takes no header for the token: this is all MCP needs. */
class NodeSocket implements Socket {
  readonly #stream: Stream
  readonly #listener: SocketListener
  readonly #frames = new FrameReader()
  readonly #messages = new MessageReader()
  #closed = false

  constructor(stream: Stream, listener: SocketListener) {
    this.#stream = stream
    this.#listener = listener
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.on('error', () => this.#end(null))
    stream.on('close', () => this.#end(null))
  }

  send(text: string): boolean {
    if (this.#closed) return false
    this.#write(opcodes.text, Buffer.from(text))
    return true
  }

  close(): void {
    if (this.#closed) return
    this.#sayClose(1000)
    this.#end(1000)
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return
    this.#frames.add(chunk)
    try {
      for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) {
        const { opcode, payload } = frame
        if (opcode === opcodes.ping) this.#write(opcodes.pong, payload)
        else if (opcode === opcodes.close) return this.#answerClose(payload)
        else if (opcode !== opcodes.pong) {
          const text = this.#messages.add(frame)
          if (text !== null) this.#listener.text(text)
        }
        if (this.#closed) return
      }
    } catch {
      this.#sayClose(protocolError)
      this.#end(null)
    }
  }

  #answerClose(payload: Buffer): void {
    this.#write(opcodes.close, payload)
    this.#end(payload.length >= 2 ? payload.readUInt16BE(0) : noCode)
  }

  #write(opcode: number, payload: Buffer): void {
    this.#stream.write(encodeFrame(opcode, payload, randomBytes(4)))
  }

  #sayClose(code: number): void {
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#write(opcodes.close, payload)
  }

  #end(code: number | null): void {
    if (this.#closed) return
    this.#closed = true
    this.#stream.end(() => this.#stream.destroy())
    this.#listener.closed(code)
  }
}

/** A refusal of the upgrade is an error of JSON-RPC. */
const readRefusal = (response: IncomingMessage, url: string, reject: (error: Error) => void) => {
  let body = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    body = (body + chunk).slice(0, refusalBytesMax)
  })
  response.on('end', () => {
    const answer = parseJson(body)
    const error = isMembers(answer) ? answer['error'] : undefined
    const status = response.statusCode ?? 0
    reject(
      isMembers(error)
        ? toRpcError(error)
        : new UnexpectedAnswer(`${url} answered ${status} instead of opening a WebSocket.`),
    )
  })
  // One that is cut off has no end; where it had one, this says nothing any more.
  response.on('close', () =>
    reject(new UnexpectedAnswer(`${url} cut off its answer instead of opening a WebSocket.`)),
  )
}

export const openSocket: OpenSocket = (url, token, listener) =>
  new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64')
    const address = url.replace(/^ws/, 'http')
    const request = (address.startsWith('https:') ? overHttps : overHttp)(address, {
      agent: false,
      timeout: handshakeMs,
      headers: {
        Authorization: `Bearer ${token}`,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': key,
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Protocol': 'mcp',
      },
    })
    request.on('upgrade', (response, duplex, head) => {
      const stream = duplex as Stream
      if (response.headers['sec-websocket-accept'] !== acceptOf(key)) {
        stream.destroy()
        return reject(new UnexpectedAnswer(`${url} is no WebSocket.`))
      }
      stream.setTimeout(silentMs, () => stream.destroy())
      stream.setNoDelay(true)
      if (head.length > 0) stream.unshift(head)
      resolve(new NodeSocket(stream, listener))
    })
    request.on('response', (response) => readRefusal(response, url, reject))
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.on('error', (cause) =>
      reject(
        new Unreachable(`There is no Gatehouse at ${new URL(url).origin}.`, { sent: false, cause }),
      ),
    )
    request.end()
  })
