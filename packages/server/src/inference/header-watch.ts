import type { ModelHeader } from '@gatehouse/contract'
import { readGgufHeader } from '../domain/models/gguf-header.ts'

/** The file is not one that the engine may see; `message` says why. */
export class HeaderNotAccepted extends Error {
  override readonly name = 'HeaderNotAccepted'
}

/** Kept in memory at most; a longer header is judged once the file is complete. */
const keptMax = 8 * 1024 * 1024
const firstLook = 64 * 1024

/** Looks at a file as it comes, and judges its header as soon as enough of it is here. */
export class HeaderWatch {
  header: ModelHeader | null = null
  readonly #fileBytes: number
  #kept: Buffer | null = Buffer.alloc(0)
  #lookAt = firstLook
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(fileBytes: number) {
    this.#fileBytes = fileBytes
  }

  take(chunk: Uint8Array): void {
    if (this.#kept === null) return
    // The giver of the buffer may write over it.
    this.#parts.push(Uint8Array.prototype.slice.call(chunk))
    this.#bytes += chunk.length
    if (this.#bytes < Math.min(this.#lookAt, this.#fileBytes)) return
    this.#kept = Buffer.concat([this.#kept, ...this.#parts])
    this.#parts = []
    const reading = readGgufHeader(this.#kept, this.#fileBytes)
    if (reading.kind === 'refused') throw new HeaderNotAccepted(reading.reason)
    if (reading.kind === 'incomplete')
      this.#lookAt = Math.max(this.#kept.length * 2, reading.atLeast)
    if (reading.kind === 'accepted') this.header = reading.header
    if (reading.kind === 'accepted' || this.#kept.length >= keptMax) this.#kept = null
  }
}
