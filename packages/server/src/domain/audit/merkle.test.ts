import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Hashing } from './hashing.ts'
import { createTree, frontierFits, rootOf } from './merkle.ts'
import {
  consistencyProof,
  inclusionProof,
  rootAt,
  verifyConsistency,
  verifyInclusion,
} from './proofs.ts'

const hashing: Hashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  room: (bytes) => Buffer.alloc(bytes),
  writeHex: (into, hex, at) => void (into as Buffer).write(hex, at, 'hex'),
  writeText: (into, text, at) => (into as Buffer).write(text, at),
}

const leafOfBytes = (hex: string) => hashing.sha256(Buffer.from(`00${hex}`, 'hex'))
/** The inputs and roots that Certificate Transparency implementations test with. */
const inputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => leafOfBytes(i.toString(16).padStart(8, '0')))
const start = { size: 0, peaks: [] }
const rootOfFirst = (leaves: readonly string[], size: number) => {
  const tree = createTree(hashing)
  for (const leaf of leaves.slice(0, size)) tree.push(leaf)
  return tree.root()
}

test('has the roots of RFC 6962 for its well-known leaves', () => {
  const tree = createTree(hashing)
  expect(tree.root()).toBe(createHash('sha256').digest('hex'))
  for (const [i, input] of inputs.entries()) {
    tree.push(leafOfBytes(input))
    expect(tree.root()).toBe(roots[i])
  }
})

test('goes on from a frontier as if it had seen every leaf', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 0, max: 100 }),
      (first, more) => {
        const leaves = leavesOf(first + more)
        const early = createTree(hashing)
        for (const leaf of leaves.slice(0, first)) early.push(leaf)
        expect(frontierFits(first, early.peaks())).toBe(true)
        const late = createTree(hashing, { size: first, peaks: early.peaks() })
        for (const leaf of leaves.slice(first)) late.push(leaf)
        expect(late.root()).toBe(rootOfFirst(leaves, leaves.length))
        expect(rootOf(hashing, late.peaks())).toBe(late.root())
      },
    ),
    { numRuns: 40 },
  )
})

test('proves every leaf in its tree, and none at another place', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), (size, pick) => {
      const leaves = leavesOf(size)
      const index = pick % size
      const root = rootOfFirst(leaves, size)
      const proof = inclusionProof(hashing, { start, leaves }, index)
      const claim = { leaf: leaves[index] as string, index, size, proof, root }
      expect(verifyInclusion(hashing, claim)).toBe(true)
      expect(verifyInclusion(hashing, { ...claim, leaf: leafOfBytes('ff') })).toBe(false)
      expect(verifyInclusion(hashing, { ...claim, root: leafOfBytes('ff') })).toBe(false)
      expect(verifyInclusion(hashing, { ...claim, proof: [...proof, root] })).toBe(false)
      if (size > 1) {
        expect(verifyInclusion(hashing, { ...claim, index: (index + 1) % size })).toBe(false)
        expect(verifyInclusion(hashing, { ...claim, proof: proof.slice(1) })).toBe(false)
      }
    }),
    { numRuns: 120 },
  )
})

test('proves that a tree grew from each smaller one, and from no other', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), (second, pick) => {
      const leaves = leavesOf(second)
      const first = 1 + (pick % second)
      const claim = {
        first,
        second,
        firstRoot: rootOfFirst(leaves, first),
        secondRoot: rootOfFirst(leaves, second),
        proof: consistencyProof(hashing, { start, leaves }, first),
      }
      expect(verifyConsistency(hashing, claim)).toBe(true)
      const other = rootOfFirst([leafOfBytes('ff'), ...leaves.slice(1)], first)
      expect(verifyConsistency(hashing, { ...claim, firstRoot: other })).toBe(false)
      expect(verifyConsistency(hashing, { ...claim, secondRoot: other })).toBe(false)
      expect(verifyConsistency(hashing, { ...claim, proof: [...claim.proof, other] })).toBe(false)
    }),
    { numRuns: 120 },
  )
})

test('proves the same of what is left, where the first leaves are known by their frontier alone', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), fc.nat(), (size, cut, pick) => {
      const leaves = leavesOf(size)
      const gone = cut % size
      const early = createTree(hashing)
      for (const leaf of leaves.slice(0, gone)) early.push(leaf)
      const part = { start: { size: gone, peaks: early.peaks() }, leaves: leaves.slice(gone) }
      const whole = { start, leaves }
      const index = gone + (pick % (size - gone))
      expect(rootAt(hashing, part, index + 1)).toBe(rootOfFirst(leaves, index + 1))
      expect(inclusionProof(hashing, part, index)).toEqual(inclusionProof(hashing, whole, index))
      expect(consistencyProof(hashing, part, index + 1)).toEqual(
        consistencyProof(hashing, whole, index + 1),
      )
    }),
    { numRuns: 200 },
  )
})
