import type { StreamPiece } from '../ports/processes.ts'

/** Keeps the first bytes of a stream in memory and counts the rest. */
export class Head {
  readonly #max: number
  readonly #chunks: Uint8Array[] = []
  #kept = 0
  #total = 0

  constructor(bytesMax: number) {
    this.#max = bytesMax
  }

  get total(): number {
    return this.#total
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#total += bytes.length
    const room = this.#max - this.#kept
    if (room <= 0) return
    // A copy: a slice of what was read would hold all of it.
    const part = Uint8Array.from(bytes.subarray(0, room))
    this.#chunks.push(part)
    this.#kept += part.length
  }

  async close(): Promise<void> {}

  read(offset: number, limit: number): StreamPiece {
    const from = Math.min(offset, this.#kept)
    const bytes = Buffer.concat(this.#chunks).subarray(from, Math.min(from + limit, this.#kept))
    return { bytes, offset: from, total_bytes: this.#total }
  }
}
