import { emptyLog } from './chain.ts'
import type { Hashing } from './hashing.ts'
import { createTree } from './merkle.ts'
import { inclusionProof } from './proofs.ts'

/** Where a log ended when it was looked at. Both hashes in hex. */
export type ChainHead = {
  readonly chain: string
  readonly size: number
  /** Of the last entry. */
  readonly head: string
  /** SHA-256 of the public key of its process; empty where that was not known. */
  readonly key: string
}

const byChain = (a: ChainHead, b: ChainHead): number =>
  a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0

/** Leaf of a head: SHA-256 over a zero byte and its four fields, a line each. */
export const leafOfHead = (hashing: Hashing, { chain, size, head, key }: ChainHead): string => {
  const text = `${chain}\n${size}\n${head}\n${key}\n`
  const bytes = hashing.room(1 + text.length * 3)
  const length = hashing.writeText(bytes, text, 1)
  return hashing.sha256(bytes.subarray(0, 1 + length))
}

/** The root of the tree (RFC 6962) whose leaves are the heads, by the names of their chains. */
export const rootOverHeads = (hashing: Hashing, heads: readonly ChainHead[]): string => {
  const tree = createTree(hashing)
  for (const head of heads.toSorted(byChain)) tree.push(leafOfHead(hashing, head))
  return tree.root()
}

/** The hashes that lead from the head of one chain to that root; null where it is not under it. */
export const proveHead = (
  hashing: Hashing,
  heads: readonly ChainHead[],
  chain: string,
): { readonly head: ChainHead; readonly index: number; readonly proof: string[] } | null => {
  const sorted = heads.toSorted(byChain)
  const index = sorted.findIndex((one) => one.chain === chain)
  const head = sorted[index]
  if (!head) return null
  const leaves = sorted.map((one) => leafOfHead(hashing, one))
  return { head, index, proof: inclusionProof(hashing, { start: emptyLog, leaves }, index) }
}
