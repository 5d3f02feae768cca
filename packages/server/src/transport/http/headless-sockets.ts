import type { Socket } from 'node:net'

/**
 * Sockets whose first headers have not arrived whole. When there are too many the oldest goes: the
 * honest ones are quick, and a cap per address would hit every agent on this machine at once.
 */
export class HeadlessSockets {
  readonly #max: number
  readonly #sockets = new Set<Socket>()

  constructor(max: number) {
    this.#max = max
  }

  add(socket: Socket): void {
    this.#sockets.add(socket)
    if (this.#sockets.size <= this.#max) return
    const oldest = this.#sockets.values().next().value
    if (!oldest) return
    this.#sockets.delete(oldest)
    oldest.destroy()
  }

  delete(socket: Socket): void {
    this.#sockets.delete(socket)
  }

  /** For a server that closes: Node waits for a first request, which clients that connect ahead of need may never send. */
  closeSilent(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** The same where bytes of a handshake say nothing about a request. */
  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
