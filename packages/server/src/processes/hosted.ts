import type { ProcessStream } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { Clock } from '../ports/clock.ts'
import type { HostedProcess, ProcessEnd, ProcessSample, StreamPiece } from '../ports/processes.ts'
import type { SandboxBackend, SandboxChild } from '../ports/sandbox.ts'
import { sampleOf } from './sample.ts'

/** Where a stream is kept. `write` may raise: what cannot be kept is not allowed to go on. */
export type Keeper = {
  readonly total: number
  write(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export type HostedParts = {
  readonly child: SandboxChild
  readonly clock: Clock
  readonly working_directory: string
  readonly timeout_ms: number
  readonly keepers: Readonly<Record<ProcessStream, Keeper>>
  readonly read: (stream: ProcessStream, offset: number, limit: number) => Promise<StreamPiece>
  /** Puts placeholders in the place of secrets. */
  readonly scrub: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** Hosts that the program asked for and was not let through to. */
  readonly refused: () => readonly string[]
  /** Once everything is over: what was opened for this process. */
  readonly close: () => Promise<void>
}

const graceMs = 2_000
/** Bytes of a stream that are taken at once; then the others have their turn. */
const burstBytes = 1024 * 1024
const burstMs = 50

/** Running program: its output kept as it comes, its time counted, its end told once. */
export class Hosted implements HostedProcess {
  readonly exited: Promise<ProcessEnd>
  readonly #parts: HostedParts
  #cause: { readonly state: 'killed' | 'timed_out'; readonly detail: string | null } | null = null
  #gone = false

  constructor(parts: HostedParts) {
    this.#parts = parts
    this.exited = this.#follow()
  }

  get sandbox(): SandboxBackend {
    return this.#parts.child.backend
  }
  get working_directory(): string {
    return this.#parts.working_directory
  }

  written(stream: ProcessStream): number {
    return this.#parts.keepers[stream].total
  }

  read(stream: ProcessStream, offset: number, limit: number): Promise<StreamPiece> {
    return this.#parts.read(stream, offset, limit)
  }

  sample(): ProcessSample | null {
    return this.#gone ? null : sampleOf(this.#parts.child.pid)
  }

  signal(name: string, detail: string | null): void {
    if (this.#gone) return
    if (detail !== null) this.#cause ??= { state: 'killed', detail }
    this.#parts.child.signal(name)
  }

  end(grace: number, detail: string | null): Promise<ProcessEnd> {
    this.#stop('killed', detail, grace)
    return this.exited
  }

  #stop(state: 'killed' | 'timed_out', detail: string | null, grace: number): void {
    this.#cause ??= { state, detail }
    if (!this.#gone) void this.#parts.child.end(grace)
  }

  async #follow(): Promise<ProcessEnd> {
    const { child, clock, keepers, timeout_ms, close } = this.#parts
    const late = clock.after(timeout_ms, () =>
      this.#stop('timed_out', `it did not end in ${Math.round(timeout_ms / 1000)} s`, graceMs),
    )
    const kept = Promise.all([
      this.#keep('stdout', child.stdout),
      this.#keep('stderr', child.stderr),
    ])
    const { code, signal, usage } = await child.exited
    this.#gone = true
    late[Symbol.dispose]()
    await kept
    await Promise.all([keepers.stdout.close(), keepers.stderr.close()]).catch(() => {})
    const refused_hosts = this.#parts.refused()
    await close().catch(() => {})
    const state = this.#cause?.state ?? (signal === null ? 'completed' : 'killed')
    const detail = this.#cause?.detail ?? null
    return { state, exit_code: code, signal, usage, detail, refused_hosts }
  }

  /** @SECURITY A program whose output cannot be kept does not go on: the group ends at once (hosted.test.ts, "cannot be kept"). */
  async #keep(stream: ProcessStream, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { clock, scrub } = this.#parts
    let [taken, sinceMs] = [0, clock.now()]
    let lost = false
    try {
      for await (const chunk of scrub(chunks)) {
        // Read on to the end: who breaks off holds the child back, and it could not end.
        lost = lost || !(await this.#write(stream, chunk))
        taken += chunk.length
        if (lost || taken < burstBytes) continue
        const restMs = burstMs - (clock.now() - sinceMs)
        if (restMs > 0 && !this.#gone) await clock.sleep(restMs)
        ;[taken, sinceMs] = [0, clock.now()]
      }
    } catch (cause) {
      this.#lose(cause)
    }
  }

  async #write(stream: ProcessStream, chunk: Uint8Array): Promise<boolean> {
    try {
      await this.#parts.keepers[stream].write(chunk)
      return true
    } catch (cause) {
      this.#lose(cause)
      return false
    }
  }

  #lose(cause: unknown): void {
    this.#stop('killed', `its output could not be kept: ${describeSystemFailure(cause)}`, 0)
  }
}
