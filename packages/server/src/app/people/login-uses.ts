import type { Clock } from '../../ports/clock.ts'

export type LoginUse = {
  /** Of the service clock. */
  readonly atMs: number
  readonly address: string
}

/** Last use of each login by a person, as this process saw it: a store of them would be written by every request. */
export class LoginUses {
  readonly #clock: Pick<Clock, 'now'>
  readonly #lifeMs: number
  readonly #uses = new Map<string, LoginUse>()

  /** No login is valid for longer than `lifeMs`. */
  constructor(clock: Pick<Clock, 'now'>, lifeMs: number) {
    this.#clock = clock
    this.#lifeMs = lifeMs
  }

  used(idHash: string, address: string): void {
    this.#uses.set(idHash, { atMs: this.#clock.now(), address })
  }

  lastOf(idHash: string): LoginUse | null {
    return this.#uses.get(idHash) ?? null
  }

  /** Forgets logins that were last used so long ago that they have expired. */
  sweep(): void {
    const oldest = this.#clock.now() - this.#lifeMs
    for (const [idHash, { atMs }] of this.#uses) if (atMs <= oldest) this.#uses.delete(idHash)
  }
}
