import { GatehouseError } from '@gatehouse/contract'
import type { Log } from '../ports/log.ts'
import type {
  Sandbox,
  SandboxChild,
  SandboxResult,
  SandboxRun,
  SandboxSpec,
  SandboxState,
} from '../ports/sandbox.ts'
import { BackendFinder, type Found, type SandboxMode } from './find-backend.ts'
import type { ToolOptions } from './prepare-tools.ts'
import { runInSandbox } from './run-in-sandbox.ts'

export type SandboxOptions = ToolOptions & {
  readonly mode: SandboxMode
  readonly log: Log
}

/** Where no backend worked, how long until the next call tries again. */
const againMs = 30_000
const endGraceMs = 1_000
const reasonForCallers =
  'the test of the sandbox failed on this machine; an operator finds the cause with gatehouse doctor'

class TriedSandbox implements Sandbox, AsyncDisposable {
  readonly #log: Log
  readonly #backends: BackendFinder
  readonly #children = new Set<SandboxChild>()
  #state: SandboxState = {
    usable: false,
    reason: 'it was not tried yet',
    remedy: 'The sandbox is tried by the first call that needs it, or by gatehouse doctor.',
    untried: true,
  }
  #probing: Promise<SandboxState> | null = null
  #probedMs = -Infinity
  #spawn: Found['spawn'] = null
  #closed = false

  constructor(options: SandboxOptions) {
    this.#log = options.log
    this.#backends = new BackendFinder(options)
  }

  state(): SandboxState {
    return this.#state
  }

  probe(): Promise<SandboxState> {
    this.#probing ??= this.#try().finally(() => {
      this.#probing = null
    })
    return this.#probing
  }

  async ready(): Promise<void> {
    if (!this.#state.usable && performance.now() - this.#probedMs > againMs) await this.probe()
    if (this.#closed)
      throw new GatehouseError('SandboxUnavailable', { reason: 'the service stops' })
    // @SECURITY Messages of a launcher are for operators: callers get a fixed reason; sandbox-backends.test.ts.
    if (!this.#state.usable)
      throw new GatehouseError('SandboxUnavailable', { reason: reasonForCallers })
  }

  async spawn(spec: SandboxSpec): Promise<SandboxChild> {
    await this.ready()
    const child = await (this.#spawn as NonNullable<Found['spawn']>)(spec)
    this.#children.add(child)
    void child.exited.then(() => this.#children.delete(child))
    if (this.#closed) void child.end(0)
    return child
  }

  run(spec: SandboxSpec, run: SandboxRun, signal: AbortSignal): Promise<SandboxResult> {
    return runInSandbox(() => this.spawn(spec), run, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#probing
    this.#backends[Symbol.dispose]()
    await Promise.all([...this.#children].map((child) => child.end(endGraceMs)))
  }

  /** Never raises: a sandbox that cannot be tried is none. */
  async #try(): Promise<SandboxState> {
    const log = this.#log
    try {
      const { state, spawn } = await this.#backends.find()
      this.#spawn = spawn
      this.#state = state
    } catch (cause) {
      log.error({ err: cause }, 'the sandbox could not be tried')
      this.#state = {
        usable: false,
        reason: cause instanceof GatehouseError ? cause.message : 'trying it failed',
        remedy: 'Look into the log of the service, then run gatehouse doctor.',
      }
    }
    this.#probedMs = performance.now()
    if (!this.#state.usable) {
      const { reason, remedy } = this.#state
      log.warn({ reason, remedy }, 'no sandbox holds here: programs do not run')
    } else if (this.#state.backend === 'landlock') {
      const { detail } = this.#state
      log.warn({ detail }, 'programs run in a sandbox that keeps less than bubblewrap would')
    }
    return this.#state
  }
}

/** Starts programs that are not trusted. Ends those that still run when it is disposed of. */
export const createSandbox = (options: SandboxOptions): Sandbox & AsyncDisposable =>
  new TriedSandbox(options)
