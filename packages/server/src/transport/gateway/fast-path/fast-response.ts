import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpResponse } from '../../http/http-response.ts'
import { keepAliveMs } from '../../http/limits.ts'

const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n`

/** Seconds are all that the header tells, so one text serves every answer of a second. */
let date = { second: 0, text: '' }
const dateText = (): string => {
  const now = Date.now()
  const second = Math.floor(now / 1000)
  if (second !== date.second) date = { second, text: new Date(now).toUTCString() }
  return date.text
}

/** A response on a bare socket, in the bytes that Node's would have; smuggling.test.ts compares them. */
export class FastResponse implements HttpResponse {
  readonly #socket: Socket
  readonly #onFinished: () => void
  readonly #closeListeners: (() => void)[] = []
  #head = ''
  #closes = false
  headersSent = false
  destroyed = false
  writableFinished = false

  constructor(socket: Socket, onFinished: () => void) {
    this.#socket = socket
    this.#onFinished = onFinished
  }

  get writableLength(): number {
    return this.#socket.writableLength
  }

  on(_event: 'close', listener: () => void): void {
    this.#closeListeners.push(listener)
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.headersSent = true
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    for (let i = 0; i < headers.length; i += 2) {
      head += `${headers[i]}: ${headers[i + 1]}\r\n`
      this.#closes ||= headers[i] === 'Connection' && headers[i + 1] === 'close'
    }
    this.#head = `${head}Date: ${dateText()}\r\n${this.#closes ? '' : keepAlive}\r\n`
  }

  end(body = ''): void {
    if (!this.#socket.writable) return
    // Text of one byte a character needs no encoder.
    const encoding = Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8'
    this.#socket.write(this.#head + body, encoding, (error) => {
      if (error) return
      this.writableFinished = true
      this.closed()
      if (this.#closes) this.#socket.destroySoon()
      else this.#onFinished()
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  closed(): void {
    if (this.destroyed) return
    this.destroyed = true
    for (const listener of this.#closeListeners) listener()
  }
}
