import type { Hashing } from './hashing.ts'

/** The Merkle tree of RFC 6962, over leaf hashes. */
export interface Tree {
  readonly size: number
  push(leaf: string): void
  root(): string
  peaks(): readonly string[]
}

type NodeHash = (left: string, right: string) => string

export const createNodeHash = (hashing: Hashing): NodeHash => {
  const bytes = hashing.room(65)
  bytes[0] = 1
  return (left, right) => {
    hashing.writeHex(bytes, left, 1)
    hashing.writeHex(bytes, right, 33)
    return hashing.sha256(bytes)
  }
}

class GrowingTree implements Tree {
  readonly #hashing: Hashing
  readonly #node: NodeHash
  readonly #peaks: string[]
  #size: number

  constructor(
    hashing: Hashing,
    from: { readonly size: number; readonly peaks: readonly string[] },
    node: NodeHash,
  ) {
    this.#hashing = hashing
    this.#node = node
    this.#peaks = [...from.peaks]
    this.#size = from.size
  }

  get size(): number {
    return this.#size
  }

  push(leaf: string): void {
    let top = leaf
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = this.#peaks.pop()
      if (left === undefined) throw new Error('the frontier does not fit the size of the tree')
      top = this.#node(left, top)
    }
    this.#peaks.push(top)
    this.#size += 1
  }

  root(): string {
    return rootOf(this.#hashing, this.#peaks, this.#node)
  }

  peaks(): readonly string[] {
    return [...this.#peaks]
  }
}

/** Goes on from a frontier: the peaks of the first `size` leaves. */
export const createTree = (
  hashing: Hashing,
  from: { readonly size: number; readonly peaks: readonly string[] } = { size: 0, peaks: [] },
  node: NodeHash = createNodeHash(hashing),
): Tree => new GrowingTree(hashing, from, node)

/** The root over a frontier. Whoever needs many hands in one `node`. */
export const rootOf = (
  hashing: Hashing,
  peaks: readonly string[],
  node: NodeHash = createNodeHash(hashing),
): string => {
  const last = peaks.at(-1)
  if (last === undefined) return hashing.sha256(new Uint8Array(0))
  let root = last
  for (let i = peaks.length - 2; i >= 0; i--) root = node(peaks[i] as string, root)
  return root
}

/** Whether there are as many peaks as a tree of that size has. */
export const frontierFits = (size: number, peaks: readonly string[]): boolean => {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones === peaks.length
}
