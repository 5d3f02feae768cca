import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Held } from '../../app/call/memory-budget.ts'
import type { GatewayLimits } from '../http/limits.ts'

const textFrame = 0x81
const chargedAtOnce = 64 * 1024

const lowByte = (value: number, byte: number): number => Math.floor(value / 256 ** byte) % 256

/** A character for each byte of the head. */
const headOf = (length: number): string => {
  if (length < 126) return String.fromCharCode(textFrame, length)
  const bytes = length < 65_536 ? [126] : [127, 0, 0, lowByte(length, 5), lowByte(length, 4)]
  if (length >= 65_536) bytes.push(lowByte(length, 3), lowByte(length, 2))
  return String.fromCharCode(textFrame, ...bytes, lowByte(length, 1), lowByte(length, 0))
}

/**
 * Writes a text as one unmasked frame (RFC 6455, 5.2), in one write: `ws` makes two, of head and text. Text of one
 * byte a character needs no buffer for that.
 */
const writeFrame = (to: Duplex, text: string, written?: (error?: Error | null) => void): void => {
  const length = Buffer.byteLength(text)
  const head = headOf(length)
  if (length === text.length) to.write(head + text, 'latin1', written)
  else to.write(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(text)]), written)
}

/** Outgoing texts of one WebSocket, and how far its peer is behind in reading them. */
export class Outbox {
  readonly #ws: WebSocket
  readonly #raw: Duplex
  readonly #limits: GatewayLimits
  readonly #memory: Held
  readonly #eased: () => void
  /** Answers that wait for the peer to read those before them: made into text one by one. */
  readonly #waiting: ((open: boolean) => void)[] = []
  #closed = false
  /** Answers of this turn of the loop; they leave in one write. */
  #texts: string[] = []
  /** Listeners who want to know whether a held text was written, by its place. */
  #asking = new Map<number, (taken: boolean) => void>()
  /** Listeners whose text the socket has and the system has not taken yet. */
  readonly #unsure = new Set<(taken: boolean) => void>()
  #heldLength = 0
  readonly #leave = (): void => this.flush()
  #sentBytes = 0
  #drainedBytes = 0
  #drainedAt: number

  /** `eased` is called when the peer has taken what was sent. */
  constructor(
    { ws, raw }: { readonly ws: WebSocket; readonly raw: Duplex },
    limits: GatewayLimits,
    /** Charged for what the peer has yet to read. */
    memory: Held,
    nowMs: number,
    eased: () => void,
  ) {
    this.#ws = ws
    this.#raw = raw
    this.#limits = limits
    this.#memory = memory
    this.#drainedAt = nowMs
    this.#eased = eased
    raw.on('drain', () => this.#ease())
    // A socket that closed while it was writing need not call back.
    raw.on('close', () => {
      for (const written of this.#unsure) written(false)
      this.#unsure.clear()
    })
  }

  #ease(): void {
    this.#charge()
    this.admitNext()
    this.#eased()
  }

  /** Whether the peer has yet to read so much that nothing more should be begun for it. */
  get full(): boolean {
    return this.#waiting.length > 0 || this.#behind()
  }

  #buffered(): number {
    return this.#ws.bufferedAmount + this.#heldLength
  }

  #charge(): void {
    this.#memory.answered(this.#buffered())
  }

  #behind(): boolean {
    return this.#buffered() > this.#limits.outboundPauseBytes
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

  /**
   * False where the peer is too far behind; then nothing was sent. `written` is told whether the system
   * has taken the text for the peer.
   */
  send(text: string, written?: (taken: boolean) => void): boolean {
    const buffered = this.#buffered()
    if (buffered > 0 && buffered + text.length > this.#limits.outboundCloseBytes) return false
    this.#sentBytes += text.length
    this.#heldLength += text.length
    if (this.#texts.push(text) === 1) process.nextTick(this.#leave)
    if (written) this.#asking.set(this.#texts.length - 1, written)
    // Small ones are counted where they do not leave with this turn of the loop.
    if (text.length > chargedAtOnce) this.#charge()
    this.admitNext()
    return true
  }

  /** Sends what is held. To be called before the closing frame, behind which nothing may come. */
  flush(): void {
    const [texts, asking] = [this.#texts, this.#asking]
    this.#texts = []
    this.#heldLength = 0
    if (asking.size > 0) this.#asking = new Map()
    if (this.#ws.readyState !== this.#ws.OPEN) {
      for (const written of asking.values()) written(false)
      return
    }
    if (texts.length > 1) this.#raw.cork()
    let place = 0
    for (const text of texts) {
      const written = asking.get(place++)
      if (written) this.#writeAsked(text, written)
      else writeFrame(this.#raw, text)
    }
    if (texts.length > 1) this.#raw.uncork()
    // Bytes that the system takes at once are never announced as drained.
    if (!this.#raw.writableNeedDrain) this.#ease()
    else this.#charge()
  }

  #writeAsked(text: string, written: (taken: boolean) => void): void {
    this.#unsure.add(written)
    writeFrame(this.#raw, text, (error) => {
      if (this.#unsure.delete(written)) written(!error && !this.#raw.destroyed)
    })
  }

  /** Whether the peer has read nothing for too long, although there is something to read. */
  isStalled(nowMs: number): boolean {
    const buffered = this.#buffered()
    const drained = this.#sentBytes - buffered
    if (buffered === 0 || drained !== this.#drainedBytes) {
      this.#drainedBytes = drained
      this.#drainedAt = nowMs
      return false
    }
    return nowMs - this.#drainedAt >= this.#limits.outboundStallMs
  }

  /** Time in which nobody could have seen that the peer reads. */
  excuse(ms: number): void {
    this.#drainedAt += ms
  }

  /** Waiters are told that nobody will read their text. */
  close(): void {
    this.#closed = true
    this.#memory.release()
    for (const go of this.#waiting.splice(0)) go(false)
  }
}
