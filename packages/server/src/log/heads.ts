import { entryOf, plainDraft } from '../domain/audit/entry.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows, ReadableChains } from '../ports/audit-rows.ts'
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
    for (const [chain, { size, head }] of Object.entries(await this.#last())) {
      const [entry] = await this.#parts.others.read(chain, size - 1, 1)
      if (entry?.seq === size - 1 && `sha256:${entry.hash}` === head) continue
      const kind = entry ? 'modified' : 'truncated'
      const what = entry ? 'is another than' : 'is gone, up to'
      const detail = `the log of ${chain} ${what} the head that was recorded at entry ${size}`
      return { kind, seq: size - 1, id: null, detail }
    }
    return null
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
      const [last] = await this.#parts.others.read(chain, next - 1, 1)
      if (last) heads[chain] = { size: next, head: `sha256:${last.hash}` }
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
