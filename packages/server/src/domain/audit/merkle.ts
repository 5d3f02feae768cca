import type { Hashing } from './hashing.ts'

/** The Merkle tree of RFC 6962, over leaf hashes. */
export interface Tree {
  readonly size: number
  push(leaf: string): void
  root(): string
  peaks(): readonly string[]
}

export const createNodeHash = (hashing: Hashing): ((left: string, right: string) => string) => {
  const bytes = hashing.room(65)
  bytes[0] = 1
  return (left, right) => {
    hashing.writeHex(bytes, left, 1)
    hashing.writeHex(bytes, right, 33)
    return hashing.sha256(bytes)
  }
}

/** Goes on from a frontier: the peaks of the first `size` leaves. */
export const createTree = (
  hashing: Hashing,
  from: { readonly size: number; readonly peaks: readonly string[] } = { size: 0, peaks: [] },
): Tree => {
  const node = createNodeHash(hashing)
  const peaks = [...from.peaks]
  let size = from.size
  return {
    get size() {
      return size
    },
    push(leaf) {
      let top = leaf
      for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
        const left = peaks.pop()
        if (left === undefined) throw new Error('the frontier does not fit the size of the tree')
        top = node(left, top)
      }
      peaks.push(top)
      size += 1
    },
    root: () => rootOf(hashing, peaks),
    peaks: () => [...peaks],
  }
}

/** The root over a frontier. */
export const rootOf = (hashing: Hashing, peaks: readonly string[]): string => {
  const last = peaks.at(-1)
  if (last === undefined) return hashing.sha256(new Uint8Array(0))
  const node = createNodeHash(hashing)
  return peaks.slice(0, -1).reduceRight((right, left) => node(left, right), last)
}

/** Whether there are as many peaks as a tree of that size has. */
export const frontierFits = (size: number, peaks: readonly string[]): boolean => {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones === peaks.length
}
