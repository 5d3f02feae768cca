import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditProof } from '@gatehouse/contract'
import { createLinker, leafOf } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { consistencyProof, inclusionProof } from '../domain/audit/proofs.ts'
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

const leavesOf = async (entries: Entries, chain: string, size: number) => {
  const linker = createLinker(hashing)
  const leaves: string[] = []
  all: for await (const group of entries(chain, 0)) {
    for (const { seq, body } of group) {
      if (leaves.length >= size) break all
      leaves.push(leafOf(linker, seq, body))
    }
    await nextTurn()
  }
  return leaves
}

const rootOfFirst = (leaves: readonly string[], size: number): string => {
  const tree = createTree(hashing)
  for (const leaf of leaves.slice(0, size)) tree.push(leaf)
  return tree.root()
}

/** An entry with its way to the root of a checkpoint; null where the checkpoint does not cover it. */
export const proveInclusion = async (
  { rows, entries }: { readonly rows: Pick<AuditRows, 'find'>; readonly entries: Entries },
  chain: string,
  id: string,
  checkpoint: Checkpoint | undefined,
  publicKey: string,
): Promise<AuditProof | null> => {
  const row = await rows.find(id)
  if (!row || !checkpoint || row.chain !== chain || row.seq >= checkpoint.size) return null
  const { size, note } = checkpoint
  const leaves = await leavesOf(entries, chain, size)
  return {
    format: 'gatehouse-audit-proof-v1',
    body: row.body,
    seq: row.seq,
    size,
    leaf: leaves[row.seq] as string,
    root: rootOfFirst(leaves, size),
    proof: inclusionProof(hashing, leaves, row.seq),
    checkpoint: note,
    public_key: publicKey,
  }
}

export const proveConsistency = async (
  entries: Entries,
  chain: string,
  first: number,
  second: number,
): Promise<Consistency> => {
  const leaves = await leavesOf(entries, chain, second)
  return {
    first,
    second,
    first_root: rootOfFirst(leaves, first),
    second_root: rootOfFirst(leaves, second),
    proof: consistencyProof(hashing, leaves, first),
  }
}
