import type { AuditRows } from '../ports/audit-rows.ts'
import { verifierKey } from './note.ts'

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
  }[]
}

type Parts = {
  readonly rows: Pick<AuditRows, 'range'>
  readonly chain: string
  readonly origin: string
  readonly publicKey: Buffer
  readonly createdAt: string
  /** How far each chain is exported: what is appended meanwhile stays out. */
  readonly chains: ExportHeader['chains']
  readonly checkpoints: () => readonly string[]
}

/** JSON lines: a header, the entries of each chain by seq with the exact hashed text, the checkpoints. */
export async function* exportLines(parts: Parts): AsyncIterable<string> {
  const { rows, chain, origin, publicKey, chains } = parts
  const header: ExportHeader = {
    format: exportFormat,
    created_at: parts.createdAt,
    public_key: publicKey.toString('base64'),
    verifier_key: verifierKey(origin, publicKey),
    chain,
    origin,
    chains,
  }
  yield `${JSON.stringify(header)}\n`
  for (const { chain: name, size } of chains) {
    for (let from = 0; from < size; ) {
      const slice = await rows.range(name, from, size, 256)
      const last = slice.at(-1)
      if (!last) break
      const lines = slice.map(({ seq, chain: of, id, hash, body }) =>
        JSON.stringify({ seq, chain: of, id, hash: `sha256:${hash}`, body }),
      )
      yield `${lines.join('\n')}\n`
      from = last.seq + 1
    }
  }
  for (const checkpoint of parts.checkpoints()) yield `${JSON.stringify({ checkpoint })}\n`
}
