import type { SandboxChild, SandboxSpec, SandboxState } from '../ports/sandbox.ts'
import { createReadyRootLauncher, spawnInBubblewrap } from './bubblewrap.ts'
import { spawnInLandlock } from './landlock.ts'
import { findBubblewrap, lackOfPlatform, prepareTools, type ToolOptions } from './prepare-tools.ts'
import type { ReadyRootLauncher } from './ready-root-launcher.ts'
import type { SandboxTools } from './sandbox-tools.ts'
import { tryBubblewrap } from './try-bubblewrap.ts'
import { tryLandlock } from './try-landlock.ts'
import { spawnUnconfined } from './unconfined.ts'

/**
 * `auto`: the strongest that holds, or none. `bubblewrap` and `landlock`: this one or none. `unconfined`: an
 * operator wants it without.
 */
export type SandboxMode = 'auto' | 'bubblewrap' | 'landlock' | 'unconfined'

export type Found = {
  readonly state: SandboxState
  /** Null where nothing holds. */
  readonly spawn: ((spec: SandboxSpec) => Promise<SandboxChild>) | null
}

const unconfined: Found = {
  state: {
    usable: true,
    backend: 'unconfined',
    detail: 'an operator chose it: nothing is kept from a program',
  },
  spawn: spawnUnconfined,
}

/** The strongest that holds here. */
export class BackendFinder implements Disposable {
  readonly #options: ToolOptions & { readonly mode: SandboxMode }
  #tools: SandboxTools | null = null
  #ready: ReadyRootLauncher | null = null

  constructor(options: ToolOptions & { readonly mode: SandboxMode }) {
    this.#options = options
  }

  [Symbol.dispose](): void {
    this.#ready?.[Symbol.dispose]()
  }

  /** @SECURITY From the strongest down to none, and never further by itself; sandbox-backends.test.ts. */
  async find(): Promise<Found> {
    const { mode } = this.#options
    if (mode === 'unconfined') return unconfined
    const lack = lackOfPlatform()
    if (lack !== null) return { state: lack, spawn: null }
    if (mode === 'landlock') return this.#landlock()
    const best = await this.#bubblewrap()
    if (best.state.usable || mode === 'bubblewrap') return best
    const next = await this.#landlock()
    const { reason, remedy } = best.state
    if (!next.state.usable)
      return {
        state: { usable: false, reason: `${reason}; ${next.state.reason}`, remedy },
        spawn: null,
      }
    const detail = `${next.state.detail}; bubblewrap, which keeps more, does not hold: ${reason}`
    return { state: { ...next.state, detail, remedy }, spawn: next.spawn }
  }

  async #bubblewrap(): Promise<Found> {
    const bubblewrap = findBubblewrap(this.#options)
    if (typeof bubblewrap !== 'string') return { state: bubblewrap, spawn: null }
    const tools = this.#prepare()
    if ('usable' in tools) return { state: tools, spawn: null }
    const own = { ...tools, bubblewrap }
    this.#ready ??= createReadyRootLauncher(own)
    const ready = this.#ready
    return {
      state: await tryBubblewrap(own),
      spawn: (spec) => spawnInBubblewrap(spec, { ...own, ready }),
    }
  }

  async #landlock(): Promise<Found> {
    const tools = this.#prepare()
    if ('usable' in tools) return { state: tools, spawn: null }
    const { landlockAbi } = this.#options
    const own = { ...tools, ...(landlockAbi === undefined ? {} : { abi: landlockAbi }) }
    return { state: await tryLandlock(own), spawn: (spec) => spawnInLandlock(spec, own) }
  }

  #prepare(): SandboxTools | SandboxState {
    if (this.#tools !== null) return this.#tools
    const tools = prepareTools(this.#options)
    if (!('usable' in tools)) this.#tools = tools
    return tools
  }
}
