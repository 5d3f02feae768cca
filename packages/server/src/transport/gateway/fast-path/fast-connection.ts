import type { Socket } from 'node:net'
import { readAnew } from '../../../connections/first-bytes.ts'
import { keepAliveMs } from '../../http/limits.ts'
import { FastResponse } from './fast-response.ts'
import { type PlainPost, readPlainPost } from './read-plain-post.ts'

export type FastPath = {
  readonly connections: Set<FastConnection>
  readonly serve: (post: PlainPost, socket: Socket, res: FastResponse) => void
  /** Gives a connection to node:http for good. */
  readonly handOver: (socket: Socket) => void
}

/** Bytes behind a request that is being answered; with more, reading pauses. */
const pendingBytesMax = 64 * 1024
const none = Buffer.alloc(0)

/**
 * A connection on which nothing but whole, plain requests to `/rpc` came so far. With the first chunk
 * that is anything else it goes to node:http, bytes untouched, so no state of a parser lives here.
 */
export class FastConnection {
  readonly socket: Socket
  readonly #path: FastPath
  readonly #listeners: readonly [event: string, listener: (chunk: Buffer) => void][]
  #response: FastResponse | null = null
  #pending = none
  #quietSinceMs: number | null = null

  constructor(path: FastPath, socket: Socket) {
    this.socket = socket
    this.#path = path
    this.#listeners = [
      ['data', (chunk) => (this.#response ? this.#keep(chunk) : this.#read(chunk))],
      // Node, too, answers no peer that has ended.
      ['end', () => socket.end()],
      ['error', () => undefined],
      ['close', () => this.#response?.closed()],
      ['close', () => path.connections.delete(this)],
    ]
    for (const [event, listener] of this.#listeners) socket.on(event, listener)
    path.connections.add(this)
  }

  sweep(nowMs: number): void {
    this.#quietSinceMs ??= nowMs
    if (nowMs - this.#quietSinceMs >= keepAliveMs) this.closeIdle()
  }

  /** Without a word, also where nothing was said yet: `firstBytes` says why. */
  closeIdle(): void {
    if (!this.#response) this.socket.destroy()
  }

  #read(chunk: Buffer): void {
    const post = readPlainPost(chunk)
    if (!post) return this.#handOver(chunk)
    this.#response = new FastResponse(this.socket, () => this.#finish())
    this.#path.serve(post, this.socket, this.#response)
  }

  #keep(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk])
    if (this.#pending.length > pendingBytesMax) this.socket.pause()
  }

  #finish(): void {
    this.#response = null
    this.#quietSinceMs = null
    if (this.#pending.length === 0 || !this.socket.writable) return
    const bytes = this.#pending
    this.#pending = none
    this.socket.resume()
    this.#read(bytes)
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this
    for (const [event, listener] of this.#listeners) socket.off(event, listener)
    this.#path.connections.delete(this)
    readAnew(socket, bytes, () => this.#path.handOver(socket))
  }
}
