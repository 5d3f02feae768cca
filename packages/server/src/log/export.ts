import { GatehouseError } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { idOf } from '../domain/audit/verify-range.ts'
import type { ChainKey } from '../ports/audit-rows.ts'
import { type ChainStart, type ChainStarts, startOf } from './chain-starts.ts'
import { parsePublicKey } from './keys.ts'
import { verifierKey } from './note.ts'
import type { LogStart, SignedRemoval } from './removals.ts'
import type { Entries } from './verify-chain.ts'

export const exportFormat = 'gatehouse-audit-export-v1'

export type ExportHeader = {
  readonly format: typeof exportFormat
  readonly created_at: string
  /** 32 bytes in base64. */
  readonly public_key: string
  /** The same key as witnesses take it. */
  readonly verifier_key: string
  /** The chain that the checkpoints at the end are about, and what they call it. */
  readonly chain: string
  readonly origin: string
  readonly chains: readonly {
    readonly chain: string
    readonly size: number
    readonly head: string
    /** The same as `public_key` of the header, of this chain; absent where its process did not tell it. */
    readonly public_key?: string
    /** The same as `removal`, of another chain, with the key that its process signed it with, in PEM. */
    readonly removal?: SignedRemoval & { readonly public_key: string }
  }[]
  /** Signed statement of what is not there any more of `chain`; absent where all of it is. */
  readonly removal?: SignedRemoval
  /** Of a part that begins where another one ended: the state there, which the root of its checkpoint is over. */
  readonly begin?: LogState
}

type Parts = {
  readonly entries: Entries
  readonly chain: string
  readonly origin: string
  readonly publicKey: Buffer
  readonly createdAt: string
  /** How far each chain is exported: what is appended meanwhile stays out. */
  readonly chains: ExportHeader['chains']
  readonly checkpoints: () => readonly string[]
  /** Where `chain` begins. */
  readonly start: LogStart
  /** Where other chains begin. */
  readonly starts: ChainStarts
  readonly keys: () => Promise<readonly ChainKey[]>
}

const removalOf = (start: ChainStart | undefined) =>
  start?.signed ? { removal: { ...start.signed, public_key: start.publicKey } } : {}

/** Keys of chains as the header has them. */
const rawKeys = (keys: readonly ChainKey[]): ReadonlyMap<string, { readonly public_key: string }> =>
  new Map(
    keys.flatMap(({ chain, public_key }): [string, { readonly public_key: string }][] => {
      try {
        const { raw } = parsePublicKey(public_key, chain)
        return [[chain, { public_key: raw.toString('base64') }]]
      } catch {
        // A key that is none: verification names it.
        return []
      }
    }),
  )

/** JSON lines: a header, the entries of each chain by seq with the exact hashed text, the checkpoints. */
export async function* exportLines(parts: Parts): AsyncIterable<string> {
  const { entries, chain, origin, publicKey, start, starts } = parts
  const began = await starts.read()
  const keys = rawKeys(await parts.keys())
  const chains = parts.chains.map((one) => ({
    ...one,
    ...keys.get(one.chain),
    ...(one.chain === chain ? {} : removalOf(began.get(one.chain))),
  }))
  const header: ExportHeader = {
    format: exportFormat,
    created_at: parts.createdAt,
    public_key: publicKey.toString('base64'),
    verifier_key: verifierKey(origin, publicKey),
    chain,
    origin,
    chains,
    ...(start.signed ? { removal: start.signed } : {}),
  }
  yield `${JSON.stringify(header)}\n`
  for (const { chain: name, size } of chains) {
    const first = name === chain ? start.state.size : startOf(began, name).size
    for await (const group of entries(name, first)) {
      const lines = group
        .filter(({ seq }) => seq < size)
        .map((entry) => {
          const { seq, hash, body } = entry
          return JSON.stringify({ seq, chain: name, id: idOf(entry), hash: `sha256:${hash}`, body })
        })
      if (lines.length > 0) yield `${lines.join('\n')}\n`
      if ((group.at(-1)?.seq ?? 0) >= size - 1) break
    }
    if (name !== chain && startOf(await starts.read(), name).size > first) {
      const detail = `retention removed entries of ${name} while they were exported; export again`
      throw new GatehouseError('StorageUnavailable', { detail })
    }
  }
  for (const checkpoint of parts.checkpoints()) yield `${JSON.stringify({ checkpoint })}\n`
}
