import type { Hashing } from './hashing.ts'
import { createNodeHash, createTree } from './merkle.ts'

/** The largest power of two below `n`, for n > 1. */
const split = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

const rootOfLeaves = (hashing: Hashing, leaves: readonly string[]): string => {
  const tree = createTree(hashing)
  for (const leaf of leaves) tree.push(leaf)
  return tree.root()
}

/** RFC 6962 §2.1.1: the hashes that lead from a leaf to the root. */
export const inclusionProof = (
  hashing: Hashing,
  leaves: readonly string[],
  index: number,
): string[] => {
  if (leaves.length <= 1) return []
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return index < k
    ? [...inclusionProof(hashing, left, index), rootOfLeaves(hashing, right)]
    : [...inclusionProof(hashing, right, index - k), rootOfLeaves(hashing, left)]
}

/** RFC 6962 §2.1.2: the hashes that show the tree of the first `size` leaves inside the whole one. */
export const consistencyProof = (
  hashing: Hashing,
  leaves: readonly string[],
  size: number,
): string[] => {
  const part = (from: readonly string[], m: number, whole: boolean): string[] => {
    if (m === from.length) return whole ? [] : [rootOfLeaves(hashing, from)]
    const k = split(from.length)
    const [left, right] = [from.slice(0, k), from.slice(k)]
    return m <= k
      ? [...part(left, m, whole), rootOfLeaves(hashing, right)]
      : [...part(right, m - k, false), rootOfLeaves(hashing, left)]
  }
  return size === 0 || size === leaves.length ? [] : part(leaves, size, true)
}

/** RFC 9162 §2.1.3.2. */
export const verifyInclusion = (
  hashing: Hashing,
  claim: {
    readonly leaf: string
    readonly index: number
    readonly size: number
    readonly proof: readonly string[]
    readonly root: string
  },
): boolean => {
  if (claim.index < 0 || claim.index >= claim.size) return false
  const node = createNodeHash(hashing)
  let [at, last, hash] = [claim.index, claim.size - 1, claim.leaf]
  for (const step of claim.proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = node(step, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      hash = node(hash, step)
    }
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && hash === claim.root
}

type ConsistencyClaim = {
  readonly first: number
  readonly second: number
  readonly firstRoot: string
  readonly secondRoot: string
  readonly proof: readonly string[]
}

/** The verdict where no step of a proof is needed, or none could help; null where steps decide. */
const verdictWithoutSteps = (claim: ConsistencyClaim): boolean | null => {
  const { first, second, firstRoot, secondRoot, proof } = claim
  if (first > second || first < 0) return false
  if (first === second) return proof.length === 0 && firstRoot === secondRoot
  return first === 0 ? proof.length === 0 : null
}

/** RFC 9162 §2.1.4.2. */
export const verifyConsistency = (hashing: Hashing, claim: ConsistencyClaim): boolean => {
  const { first, second, firstRoot, secondRoot } = claim
  const verdict = verdictWithoutSteps(claim)
  if (verdict !== null) return verdict
  const node = createNodeHash(hashing)
  const powerOfTwo = Number.isInteger(Math.log2(first))
  const [start, ...steps] = powerOfTwo ? [firstRoot, ...claim.proof] : claim.proof
  if (start === undefined) return false
  let [at, last] = [first - 1, second - 1]
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  let [one, two] = [start, start]
  for (const step of steps) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      one = node(step, one)
      two = node(step, two)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else {
      two = node(two, step)
    }
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 && one === firstRoot && two === secondRoot
}
