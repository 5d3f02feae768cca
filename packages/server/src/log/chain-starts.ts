import { emptyLog, type LogState } from '../domain/audit/chain.ts'
import type { ChainRemoval, ReadableChains } from '../ports/audit-rows.ts'
import { parsePublicKey } from './keys.ts'
import { type LogStart, readRemoval } from './removals.ts'

/** Beginning of the chain of another process, and the key that signed it, in PEM. */
export type ChainStart = LogStart & { readonly publicKey: string }

/** Where the chains of others begin, those of which retention took entries away. */
export type Starts = ReadonlyMap<string, ChainStart>

/** The state that a chain of another process goes on from. */
export const startOf = (starts: Starts, chain: string): LogState =>
  starts.get(chain)?.state ?? emptyLog

/** The beginning of a chain as its process signed it; null where that is no signature of this key, or of another chain. */
export const startBy = (removal: ChainRemoval): ChainStart | null => {
  const { chain, public_key: publicKey, ...signed } = removal
  try {
    const start = readRemoval(signed, parsePublicKey(publicKey, chain))
    return start?.removal?.chain === chain ? { ...start, publicKey } : null
  } catch {
    // A key that is none: nobody signed anything with it.
    return null
  }
}

/** Knows where chains of others begin, as of now. */
export class ChainStarts {
  readonly #others: Pick<ReadableChains, 'removals'>
  /** Verified ones, by chain, with what they were verified from. */
  readonly #known = new Map<string, { readonly text: string; readonly start: ChainStart | null }>()

  constructor(others: Pick<ReadableChains, 'removals'>) {
    this.#others = others
  }

  async read(): Promise<Starts> {
    const starts = new Map<string, ChainStart>()
    for (const removal of await this.#others.removals()) {
      const start = this.#verified(removal)
      if (start) starts.set(removal.chain, start)
    }
    return starts
  }

  /** Looks at chains of others; again where that found something, and one of them has begun to begin elsewhere meanwhile. */
  async steady<T>(
    look: (starts: Starts) => Promise<T>,
    isFault: (found: T) => boolean,
  ): Promise<T> {
    for (let starts = await this.read(); ; ) {
      const found = await look(starts)
      if (!isFault(found)) return found
      const now = await this.read()
      if ([...now].every(([chain, { state }]) => startOf(starts, chain).size === state.size))
        return found
      starts = now
    }
  }

  #verified(removal: ChainRemoval): ChainStart | null {
    const text = JSON.stringify(removal)
    const known = this.#known.get(removal.chain)
    if (known?.text === text) return known.start
    const start = startBy(removal)
    this.#known.set(removal.chain, { text, start })
    return start
  }
}
