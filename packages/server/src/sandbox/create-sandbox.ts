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
import { type BubblewrapOptions, spawnInBubblewrap } from './bubblewrap.ts'
import { prepareTools, type ToolOptions } from './prepare-tools.ts'
import { runInSandbox } from './run-in-sandbox.ts'
import { tryBubblewrap } from './try-bubblewrap.ts'
import { spawnUnconfined } from './unconfined.ts'

export type SandboxOptions = ToolOptions & {
  /** `auto`: the strongest that holds, or none. `unconfined`: an operator wants it without. */
  readonly mode: 'auto' | 'unconfined'
  readonly log: Log
}

/** Where no rung held, how long until the next call tries again. */
const againMs = 30_000
const endGraceMs = 1_000

const unconfined: SandboxState = {
  usable: true,
  rung: 'unconfined',
  detail: 'an operator chose it: nothing is kept from a program',
}

class TriedSandbox implements Sandbox, AsyncDisposable {
  readonly #options: SandboxOptions
  readonly #children = new Set<SandboxChild>()
  #state: SandboxState = {
    usable: false,
    reason: 'it was not tried yet',
    remedy: 'It is tried by the first call that needs it, or by gatehouse doctor.',
  }
  #probing: Promise<SandboxState> | null = null
  #probedMs = -Infinity
  #tools: BubblewrapOptions | null = null
  #closed = false

  constructor(options: SandboxOptions) {
    this.#options = options
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

  async spawn(spec: SandboxSpec): Promise<SandboxChild> {
    if (!this.#state.usable && performance.now() - this.#probedMs > againMs) await this.probe()
    if (this.#closed)
      throw new GatehouseError('SandboxUnavailable', { reason: 'the service stops' })
    const state = this.#state
    if (!state.usable)
      throw new GatehouseError('SandboxUnavailable', { reason: state.reason, remedy: state.remedy })
    const child =
      state.rung === 'unconfined'
        ? await spawnUnconfined(spec)
        : await spawnInBubblewrap(spec, this.#tools as BubblewrapOptions)
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
    await Promise.all([...this.#children].map((child) => child.end(endGraceMs)))
  }

  /** Never raises: a sandbox that cannot be tried is none. */
  async #try(): Promise<SandboxState> {
    const { log } = this.#options
    try {
      this.#state = await this.#find()
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
    }
    return this.#state
  }

  /** @SECURITY From the strongest down to none, and never further by itself; sandbox-ladder.test.ts. */
  async #find(): Promise<SandboxState> {
    if (this.#options.mode === 'unconfined') return unconfined
    const tools = this.#tools ?? prepareTools(this.#options)
    if ('usable' in tools) return tools
    this.#tools = tools
    return tryBubblewrap(tools)
  }
}

/** All that starts programs which are not trusted. Ends whatever still runs when it is disposed of. */
export const createSandbox = (options: SandboxOptions): Sandbox & AsyncDisposable =>
  new TriedSandbox(options)
