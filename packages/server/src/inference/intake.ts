import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { HeaderWatch } from './header-watch.ts'

const readBytes = 1024 * 1024
const writeBytes = 1024 * 1024
/** On a slow line a kill must not cost minutes. */
const writeEveryMs = 200

/** Everything that one pass over the bytes does: they are hashed, looked at and written as they come. */
export class Intake {
  readonly #handle: FileHandle
  readonly #fileBytes: number
  #hash: Hash = createHash('sha256')
  #watch: HeaderWatch
  /** One buffer for all: chunks that waited here would keep memory that nobody counts. */
  readonly #waiting = Buffer.allocUnsafe(writeBytes)
  #waitingBytes = 0
  #writtenMs = performance.now()
  /** Of these, what is written or waits to be. */
  #takenBytes = 0
  /** Taken in so far: hashed and looked at. */
  bytes = 0

  constructor(handle: FileHandle, fileBytes: number) {
    this.#handle = handle
    this.#fileBytes = fileBytes
    this.#watch = new HeaderWatch(fileBytes)
  }

  get header() {
    return this.#watch.header
  }

  /** Takes in what an earlier download left: it is hashed again, so nothing of it is taken on trust. */
  async replay(onBytes: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    const { size } = await this.#handle.stat()
    if (size > this.#fileBytes) return this.restart()
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(readBytes, size)))
    while (this.bytes < size) {
      signal.throwIfAborted()
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.bytes)
      if (bytesRead === 0) break
      this.#look(buffer.subarray(0, bytesRead))
      this.#takenBytes = this.bytes
      onBytes(this.bytes)
    }
  }

  /** Forgets all of it. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#watch = new HeaderWatch(this.#fileBytes)
    this.#waitingBytes = 0
    this.#takenBytes = 0
    this.bytes = 0
  }

  /** Raises `HeaderNotAccepted` as soon as that is clear. */
  async take(chunk: Uint8Array): Promise<void> {
    this.#look(chunk)
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + writeBytes - this.#waitingBytes)
      this.#waiting.set(part, this.#waitingBytes)
      this.#waitingBytes += part.length
      this.#takenBytes += part.length
      from += part.length
      if (this.#waitingBytes === writeBytes) await this.flush()
    }
    if (performance.now() - this.#writtenMs >= writeEveryMs) await this.flush()
  }

  async flush(): Promise<void> {
    const [length, at] = [this.#waitingBytes, this.#takenBytes - this.#waitingBytes]
    this.#writtenMs = performance.now()
    this.#waitingBytes = 0
    // A disk that is nearly full may take less than it was given.
    for (let done = 0; done < length; ) {
      const { bytesWritten } = await this.#handle.write(
        this.#waiting,
        done,
        length - done,
        at + done,
      )
      if (bytesWritten === 0)
        throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' })
      done += bytesWritten
    }
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  #look(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.#watch.take(chunk)
    this.bytes += chunk.length
  }
}
