import type { Hashing } from './hashing.ts'
import { createNodeHash, createTree } from './merkle.ts'

/** The largest power of two below `n`, for n > 1. */
const split = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** The leaves of a tree from a number on, and the frontier of those before it. */
export type TreePart = {
  readonly start: { readonly size: number; readonly peaks: readonly string[] }
  readonly leaves: readonly string[]
}

export const sizeOf = ({ start, leaves }: TreePart): number => start.size + leaves.length

/** The hash over leaves that lie before the start: one of its frontier, which is all that a proof needs of them. */
const peakOver = ({ start }: TreePart, from: number, to: number): string => {
  let at = 0
  for (const peak of start.peaks) {
    let size = 1
    while (size * 2 <= start.size - at) size *= 2
    if (at === from && at + size === to) return peak
    at += size
  }
  throw new Error(`no hash is known over the leaves ${from} to ${to}`)
}

/** The hash over the leaves from one number up to another. */
const rootOver = (hashing: Hashing, part: TreePart, from: number, to: number): string => {
  const { start, leaves } = part
  if (from === 0 && to >= start.size) {
    const tree = createTree(hashing, start)
    for (const leaf of leaves.slice(0, to - start.size)) tree.push(leaf)
    return tree.root()
  }
  if (from >= start.size) {
    const tree = createTree(hashing)
    for (const leaf of leaves.slice(from - start.size, to - start.size)) tree.push(leaf)
    return tree.root()
  }
  if (to <= start.size) return peakOver(part, from, to)
  const middle = from + split(to - from)
  const node = createNodeHash(hashing)
  return node(rootOver(hashing, part, from, middle), rootOver(hashing, part, middle, to))
}

/** The root of the tree as it was with so many leaves, no fewer than at the start. */
export const rootAt = (hashing: Hashing, part: TreePart, size: number): string =>
  rootOver(hashing, part, 0, size)

/** RFC 6962 §2.1.1: the hashes that lead from a leaf, no earlier than the start, to the root. */
export const inclusionProof = (hashing: Hashing, part: TreePart, index: number): string[] => {
  const over = (from: number, to: number): string => rootOver(hashing, part, from, to)
  const path = (from: number, to: number): string[] => {
    if (to - from <= 1) return []
    const middle = from + split(to - from)
    return index < middle
      ? [...path(from, middle), over(middle, to)]
      : [...path(middle, to), over(from, middle)]
  }
  return path(0, sizeOf(part))
}

/** RFC 6962 §2.1.2: the hashes that show the tree of the first `size` leaves, no fewer than at the start, inside the whole one. */
export const consistencyProof = (hashing: Hashing, part: TreePart, size: number): string[] => {
  const over = (from: number, to: number): string => rootOver(hashing, part, from, to)
  const steps = (from: number, to: number, whole: boolean): string[] => {
    if (size === to) return whole ? [] : [over(from, to)]
    const middle = from + split(to - from)
    return size <= middle
      ? [...steps(from, middle, whole), over(middle, to)]
      : [...steps(middle, to, false), over(from, middle)]
  }
  const end = sizeOf(part)
  return size === 0 || size === end ? [] : steps(0, end, true)
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
