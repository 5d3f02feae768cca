import type { Hashing } from './hashing.ts'
import { createTree } from './merkle.ts'

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

/**
 * The root of the tree (RFC 6962) whose leaves are the heads, by the names of their chains. A leaf is SHA-256 over a zero byte
 * and the four fields, a line each.
 */
export const rootOverHeads = (hashing: Hashing, heads: readonly ChainHead[]): string => {
  const tree = createTree(hashing)
  for (const { chain, size, head, key } of heads.toSorted(byChain)) {
    const text = `${chain}\n${size}\n${head}\n${key}\n`
    const bytes = hashing.room(1 + text.length * 3)
    const length = hashing.writeText(bytes, text, 1)
    tree.push(hashing.sha256(bytes.subarray(0, 1 + length)))
  }
  return tree.root()
}
