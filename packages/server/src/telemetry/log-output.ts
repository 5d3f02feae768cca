import { Buffer } from 'node:buffer'
import { constants, fstatSync, openSync, writeSync } from 'node:fs'

const waitingBytesMax = 256 * 1024
const retryMs = 50

/**
 * Descriptor to write a log to. A pipe is opened once more, because one that nobody reads would otherwise stop
 * the process, and because a flag set on the given descriptor is shared with the programs beside this one.
 */
const writableWithoutWaiting = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO()) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    // No /proc, or the reader has gone already.
    return fd
  }
}

/** Lines of the log on a descriptor. Writing never waits and never fails; what cannot be written is counted. */
export class LogOutput {
  readonly #fd: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #dropped = 0
  #reported = 0
  #retry: NodeJS.Timeout | null = null

  constructor(fd: number) {
    this.#fd = writableWithoutWaiting(fd)
  }

  /** Lines that nobody will read: the reader has gone, is too slow, or the disk is full. */
  get dropped(): number {
    return this.#dropped
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waitingBytes + bytes.length > waitingBytesMax) {
      this.#dropped += 1
      return
    }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#retry === null) this.#drain()
  }

  #drain(): void {
    this.#retry = null
    for (let line = this.#waiting[0]; line; line = this.#waiting[0]) {
      const written = this.#writeNow(line)
      if (written === 'later') return this.#drainLater()
      this.#waitingBytes -= written
      // A pipe may take the first part of a line; the rest stays in front.
      if (written < line.length) this.#waiting[0] = line.subarray(written)
      else this.#waiting.shift()
    }
    this.#report()
  }

  #drainLater(): void {
    this.#retry = setTimeout(() => this.#drain(), retryMs).unref()
  }

  /** Bytes that are dealt with: written, or dropped together with their line. */
  #writeNow(line: Buffer): number | 'later' {
    try {
      return writeSync(this.#fd, line)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 'later'
      this.#dropped += 1
      return line.length
    }
  }

  /** Says in the log itself that lines are missing, as soon as it can be written again. */
  #report(): void {
    const missing = this.#dropped - this.#reported
    if (missing === 0) return
    const time = new Date().toISOString()
    const facts = { level: 'warn', time, dropped_lines: missing, msg: 'log lines were dropped' }
    const before = this.#dropped
    if (this.#writeNow(Buffer.from(`${JSON.stringify(facts)}\n`)) === 'later')
      return this.#drainLater()
    // The note itself may have been the next one that nobody took.
    if (this.#dropped === before) this.#reported = before
    else this.#dropped = before
  }
}
