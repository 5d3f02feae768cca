import type { LogState } from '../domain/audit/chain.ts'
import { entryOf, plainDraft } from '../domain/audit/entry.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows, ReadableChains } from '../ports/audit-rows.ts'
import { type ChainStarts, startOf } from './chain-starts.ts'
import type { Writer } from './writer.ts'

const act = 'audit.heads'

type Head = { readonly size: number; readonly head: string }
type Heads = Readonly<Record<string, Head>>

type Parts = {
  /** Of this process. */
  readonly chain: string
  readonly rows: Pick<AuditRows, 'query'>
  readonly writer: Pick<Writer, 'append'>
  readonly others: ReadableChains
  readonly starts: ChainStarts
}

/**
 * Heads of the logs of the other gate processes, recorded in the log of the first: what is signed over this one is signed
 * over all of them, and none can be shortened or put back unseen.
 */
export class OtherHeads {
  readonly #parts: Parts
  #recorded: Heads | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Records where the other logs end, where one of them has grown since. */
  async record(): Promise<void> {
    const [recorded, present] = [await this.#last(), await this.#present()]
    if (Object.keys(present).some((chain) => recorded[chain]?.size !== present[chain]?.size))
      await this.#append(present)
  }

  /** Records them whatever was recorded before: what is wrong with them was accepted. */
  async renew(): Promise<void> {
    await this.#append(await this.#present())
  }

  /** The first of the recorded heads that is not in the other logs any more. */
  async check(): Promise<Fault | null> {
    const recorded = Object.entries(await this.#last())
    return this.#parts.starts.steady(
      async (starts) => {
        for (const [chain, head] of recorded) {
          const fault = await this.#differs(chain, head, startOf(starts, chain))
          if (fault) return fault
        }
        return null
      },
      (fault) => fault !== null,
    )
  }

  async #differs(chain: string, { size, head }: Head, start: LogState): Promise<Fault | null> {
    // Retention took away what it was recorded at.
    if (size < start.size) return null
    const hash = size === start.size ? start.head : await this.#hashAt(chain, size - 1)
    if (`sha256:${hash}` === head) return null
    const what = hash === null ? 'is gone, up to' : 'is another than'
    return {
      kind: hash === null ? 'truncated' : 'modified',
      seq: size - 1,
      id: null,
      detail: `the log of ${chain} ${what} the head that was recorded at entry ${size}`,
    }
  }

  async #hashAt(chain: string, seq: number): Promise<string | null> {
    const [entry] = await this.#parts.others.read(chain, seq, 1)
    return entry?.seq === seq ? entry.hash : null
  }

  async #append(chains: Heads): Promise<void> {
    await this.#parts.writer.append({
      ...plainDraft({ actor: 'system', request_id: '', capability: act }),
      arguments: { chains },
    })
    this.#recorded = chains
  }

  async #present(): Promise<Heads> {
    const heads: Record<string, Head> = {}
    for (const { chain, next } of await this.#parts.others.ends()) {
      const hash = await this.#hashAt(chain, next - 1)
      if (hash !== null) heads[chain] = { size: next, head: `sha256:${hash}` }
    }
    return heads
  }

  async #last(): Promise<Heads> {
    if (this.#recorded) return this.#recorded
    const { rows } = await this.#parts.rows.query({ capability: act, limit: 1, offset: 0 })
    const [row] = rows.filter(({ chain }) => chain === this.#parts.chain)
    const { chains } = (row ? entryOf(row).arguments : {}) as { readonly chains?: Heads }
    return (this.#recorded = chains ?? {})
  }
}
