import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLinker, leafOf } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { consistencyProof, inclusionProof } from '../domain/audit/proofs.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'

/** RFC 6962 proofs, in hex, to be checked against the root of a checkpoint of that size. */
export type Inclusion = {
  readonly index: number
  readonly size: number
  readonly leaf: string
  readonly root: string
  readonly proof: readonly string[]
}
export type Consistency = {
  readonly first: number
  readonly second: number
  readonly first_root: string
  readonly second_root: string
  readonly proof: readonly string[]
}

const leavesOf = async (rows: Pick<AuditRows, 'range'>, chain: string, size: number) => {
  const linker = createLinker(hashing)
  const leaves: string[] = []
  while (leaves.length < size) {
    const slice = await rows.range(chain, leaves.length, size, 256)
    if (slice.length === 0) break
    for (const row of slice) leaves.push(leafOf(linker, row.seq, row.body))
    await nextTurn()
  }
  return leaves
}

const rootOfFirst = (leaves: readonly string[], size: number): string => {
  const tree = createTree(hashing)
  for (const leaf of leaves.slice(0, size)) tree.push(leaf)
  return tree.root()
}

export const proveInclusion = async (
  rows: Pick<AuditRows, 'range' | 'find'>,
  chain: string,
  id: string,
  size: number,
): Promise<Inclusion | null> => {
  const row = await rows.find(id)
  if (!row || row.chain !== chain || row.seq >= size) return null
  const leaves = await leavesOf(rows, chain, size)
  return {
    index: row.seq,
    size,
    leaf: leaves[row.seq] as string,
    root: rootOfFirst(leaves, size),
    proof: inclusionProof(hashing, leaves, row.seq),
  }
}

export const proveConsistency = async (
  rows: Pick<AuditRows, 'range'>,
  chain: string,
  first: number,
  second: number,
): Promise<Consistency> => {
  const leaves = await leavesOf(rows, chain, second)
  return {
    first,
    second,
    first_root: rootOfFirst(leaves, first),
    second_root: rootOfFirst(leaves, second),
    proof: consistencyProof(hashing, leaves, first),
  }
}
