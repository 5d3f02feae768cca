import { createHash } from 'node:crypto'
import type { Ids } from '@gatehouse/server/ports/ids'

/** Ids of the right form that are the same in each run: the first of each prefix ends in 1. */
export class CountedIds implements Ids {
  readonly #counts: Map<string, number>
  readonly #secrets: readonly Buffer[]
  #given: number

  /** `secrets` come first; those after them are digests. Ids go on after those of `before`. */
  constructor(secrets: readonly Buffer[] = [], before?: CountedIds) {
    this.#secrets = secrets
    this.#counts = new Map(before ? before.#counts : [])
    this.#given = before ? before.#given : 0
  }

  next(prefix: string): string {
    const count = (this.#counts.get(prefix) ?? 0) + 1
    this.#counts.set(prefix, count)
    return `${prefix}-${String(count).padStart(26, '0')}`
  }

  secret(): Buffer {
    this.#given += 1
    const given = this.#secrets[this.#given - 1]
    return given ?? createHash('sha256').update(`secret ${this.#given}`).digest()
  }
}
