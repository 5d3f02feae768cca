import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'
import type { Storage } from '../../ports/storage.ts'

export type LeaseDeps = {
  readonly storage: Pick<Storage, 'meta'>
  readonly clock: Clock
  /** Name of this node. */
  readonly node: string
}

/** Longer than any work that is done under a lease, so that it ends by itself only where its node died. */
const leaseMs = 120_000
const lookMs = 200

const keyOf = (name: string): string => `upstream.login.${name}`

/**
 * One node at a time changes what is kept of a login.
 * @SECURITY A refresh token that two nodes use is taken for stolen, and the login with it; upstream/login-nodes.test.ts.
 */
export class LoginLease {
  readonly #deps: LeaseDeps
  /** Ends of the work on this node, by login. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(deps: LeaseDeps) {
    this.#deps = deps
  }

  /** Waits for whoever holds it, no longer than for a node that died. */
  hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(name) ?? Promise.resolve()
    const turn = before.then(() => this.#hold(name, work))
    this.#turns.set(
      name,
      turn.catch(() => {}),
    )
    return turn
  }

  async #hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps
    const endsMs = clock.now() + leaseMs
    // The last look comes behind the end: time that the store took to answer is none that another node took.
    for (let isLast = false; !(await this.#take(name)); ) {
      if (isLast)
        throw new GatehouseError('UpstreamFailed', {
          upstream: name,
          detail: 'another node changes its login all the time',
        })
      isLast = clock.now() >= endsMs
      if (!isLast) await clock.sleep(lookMs)
    }
    try {
      return await work()
    } finally {
      await this.#release(name)
    }
  }

  #take(name: string): Promise<boolean> {
    const { storage, clock, node } = this.#deps
    const nowMs = clock.now()
    return storage.meta.lease(keyOf(name), node, nowMs, nowMs + leaseMs)
  }

  #release(name: string): Promise<void> {
    return this.#deps.storage.meta.release(keyOf(name), this.#deps.node)
  }
}
