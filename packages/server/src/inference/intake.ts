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
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #writtenMs = performance.now()
  /** Taken in so far: hashed, and written but for what waits. */
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
      onBytes(this.bytes)
    }
  }

  /** Forgets all of it. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#watch = new HeaderWatch(this.#fileBytes)
    this.#waiting = []
    this.#waitingBytes = 0
    this.bytes = 0
  }

  /** Raises `HeaderNotAccepted` as soon as that is clear. */
  async take(chunk: Uint8Array): Promise<void> {
    this.#look(chunk)
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes >= writeBytes || performance.now() - this.#writtenMs >= writeEveryMs)
      await this.flush()
  }

  async flush(): Promise<void> {
    const [parts, length] = [this.#waiting, this.#waitingBytes]
    if (length === 0) return
    this.#waiting = []
    this.#waitingBytes = 0
    this.#writtenMs = performance.now()
    const at = this.bytes - length
    const { bytesWritten } = await this.#handle.writev(parts, at)
    // A disk that is nearly full may take less than it was given.
    if (bytesWritten < length) {
      const rest = Buffer.concat(parts).subarray(bytesWritten)
      for (let done = 0; done < rest.length; ) {
        const written = await this.#handle.write(
          rest,
          done,
          rest.length - done,
          at + bytesWritten + done,
        )
        done += written.bytesWritten
      }
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
