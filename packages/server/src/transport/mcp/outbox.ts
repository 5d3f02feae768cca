import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { GatewayLimits } from '../http/limits.ts'

/** What leaves through one WebSocket, and how far its peer is behind in reading it. */
export class Outbox {
  readonly #ws: WebSocket
  readonly #raw: Duplex
  readonly #limits: GatewayLimits
  /** Answers that wait for the peer to read those before them: made into text one by one. */
  readonly #waiting: ((open: boolean) => void)[] = []
  #closed = false
  #corked = false
  #sentBytes = 0
  #drainedBytes = 0
  #drainedAt: number

  constructor(ws: WebSocket, raw: Duplex, limits: GatewayLimits, nowMs: number) {
    this.#ws = ws
    this.#raw = raw
    this.#limits = limits
    this.#drainedAt = nowMs
  }

  /** Whether the peer has yet to read so much that nothing more should be begun for it. */
  get full(): boolean {
    return this.#waiting.length > 0 || this.#behind()
  }

  #behind(): boolean {
    return this.#ws.bufferedAmount > this.#limits.outboundPauseBytes
  }

  /** Null where there is room now; otherwise resolves when there is, false if there never will be. */
  room(): Promise<boolean> | null {
    if (this.#closed || !this.full) return null
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Lets the next answer go where there is room again. */
  admitNext(): void {
    if (this.#waiting.length > 0 && !this.#behind()) this.#waiting.shift()?.(true)
  }

  /** False where the peer is too far behind; then nothing was sent. */
  send(text: string): boolean {
    const buffered = this.#ws.bufferedAmount
    if (buffered > 0 && buffered + text.length > this.#limits.outboundCloseBytes) return false
    this.#cork()
    this.#sentBytes += text.length
    this.#ws.send(text)
    this.admitNext()
    return true
  }

  /** What one turn of the loop answers leaves in one write. */
  #cork(): void {
    if (this.#corked) return
    this.#corked = true
    this.#raw.cork()
    process.nextTick(() => {
      this.#corked = false
      this.#raw.uncork()
    })
  }

  /** Whether the peer has read nothing for too long, although there is something to read. */
  isStalled(nowMs: number): boolean {
    const buffered = this.#ws.bufferedAmount
    const drained = this.#sentBytes - buffered
    if (buffered === 0 || drained !== this.#drainedBytes) {
      this.#drainedBytes = drained
      this.#drainedAt = nowMs
      return false
    }
    return nowMs - this.#drainedAt >= this.#limits.outboundStallMs
  }

  /** Whoever waits is told that nobody will read it. */
  close(): void {
    this.#closed = true
    for (const go of this.#waiting.splice(0)) go(false)
  }
}
