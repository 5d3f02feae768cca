import type { ChildProcess } from 'node:child_process'

/** Until one that nobody needed is ended. */
const idleMs = 30_000
/** From the end of a program, so that its answer goes first. */
const laterMs = 5

/**
 * One launcher (root-launcher.pl) that was started ahead of its program, which then need not wait for it.
 * @SECURITY It was given pipes, a filter and the launchers, nothing of any agent; it serves one program, and
 * ends with the service; sandbox-root-launcher.test.ts.
 */
export class ReadyRootLauncher implements Disposable {
  readonly #start: () => ChildProcess
  readonly #idleMs: number
  #waiting: ChildProcess | null = null
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(start: () => ChildProcess, options: { readonly idleMs?: number } = {}) {
    this.#start = start
    this.#idleMs = options.idleMs ?? idleMs
  }

  /** The one that waits, for one program; null where none does. */
  take(): ChildProcess | null {
    const launcher = this.#waiting
    this.#waiting = null
    clearTimeout(this.#timer)
    return launcher?.exitCode === null && launcher.signalCode === null ? launcher : null
  }

  /** Soon one waits, for a while. */
  prepare(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#waiting ??= this.#started()
      this.#timer = setTimeout(() => this.#end(), this.#idleMs).unref()
    }, laterMs).unref()
  }

  [Symbol.dispose](): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#end()
  }

  /** A failure here happens to the next program as well, which then says so. */
  #started(): ChildProcess | null {
    try {
      const launcher = this.#start()
      launcher.on('error', () => {})
      // One that was never started may have no streams either.
      if (launcher.pid === undefined) return null
      // A taker of one that has ended meanwhile hears of it by its channel.
      for (const stream of launcher.stdio) stream?.on('error', () => {})
      return launcher
    } catch {
      return null
    }
  }

  #end(): void {
    this.take()?.kill('SIGKILL')
  }
}
