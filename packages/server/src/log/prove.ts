import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditProof, GatehouseError } from '@gatehouse/contract'
import { createLinker, type LogState, leafOf } from '../domain/audit/chain.ts'
import { consistencyProof, inclusionProof, rootAt, type TreePart } from '../domain/audit/proofs.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'
import type { Checkpoint } from './note.ts'
import type { Entries } from './verify-chain.ts'

/** Proof that the tree only grew, in hex: to be checked against the roots of two checkpoints. */
export type Consistency = {
  readonly first: number
  readonly second: number
  readonly first_root: string
  readonly second_root: string
  readonly proof: readonly string[]
}

/** The entries that are left, and the state from which they go on. */
type ProofParts = { readonly entries: Entries; readonly start: LogState }

const partOf = async (
  { entries, start }: ProofParts,
  chain: string,
  size: number,
): Promise<TreePart> => {
  const linker = createLinker(hashing)
  const leaves: string[] = []
  all: for await (const group of entries(chain, start.size)) {
    for (const { seq, body } of group) {
      if (start.size + leaves.length >= size) break all
      leaves.push(leafOf(linker, seq, body))
    }
    await nextTurn()
  }
  return { start, leaves }
}

/** An entry with its way to the root of a checkpoint; null where the checkpoint does not cover it. */
export const proveInclusion = async (
  parts: ProofParts & { readonly rows: Pick<AuditRows, 'find'> },
  chain: string,
  id: string,
  checkpoint: Checkpoint | undefined,
  publicKey: string,
): Promise<AuditProof | null> => {
  const row = await parts.rows.find(id)
  if (!row || !checkpoint || row.chain !== chain || row.seq >= checkpoint.size) return null
  const { size, note } = checkpoint
  const part = await partOf(parts, chain, size)
  return {
    format: 'gatehouse-audit-proof-v1',
    body: row.body,
    seq: row.seq,
    size,
    leaf: part.leaves[row.seq - part.start.size] as string,
    root: rootAt(hashing, part, size),
    proof: inclusionProof(hashing, part, row.seq),
    checkpoint: note,
    public_key: publicKey,
  }
}

export const proveConsistency = async (
  parts: ProofParts,
  chain: string,
  first: number,
  second: number,
): Promise<Consistency> => {
  const { size } = parts.start
  if (first < size)
    throw new GatehouseError('NotFound', {
      path: `a tree of ${first} entries: ${size} were removed`,
    })
  const part = await partOf(parts, chain, second)
  return {
    first,
    second,
    first_root: rootAt(hashing, part, first),
    second_root: rootAt(hashing, part, second),
    proof: consistencyProof(hashing, part, first),
  }
}
