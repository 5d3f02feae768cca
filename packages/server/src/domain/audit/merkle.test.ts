import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Hashing } from './hashing.ts'
import { type ChainHead, rootOverHeads } from './heads-root.ts'
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
    expect([tree.size, tree.root()]).toEqual([i + 1, roots[i]])
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

test('a frontier fits a size only with as many peaks as its tree has', () => {
  const fits = (size: number) => [0, 1, 2, 3].filter((n) => frontierFits(size, Array(n).fill('')))
  expect([0, 1, 2, 3, 4, 7].map(fits)).toEqual([[0], [1], [1], [2], [1], [3]])
})

test('a tree does not go on from too few peaks', () => {
  const tree = createTree(hashing, { size: 1, peaks: [] })
  expect(() => tree.push(leafOfBytes('00'))).toThrow('the frontier does not fit')
})

test('nothing is proven of leaves whose hashes are gone', () => {
  const leaves = leavesOf(4)
  const early = createTree(hashing)
  for (const leaf of leaves.slice(0, 2)) early.push(leaf)
  const part = { start: { size: 2, peaks: early.peaks() }, leaves: leaves.slice(2) }
  expect(() => inclusionProof(hashing, part, 1)).toThrow('no hash is known over the leaves 0 to 1')
  expect(() => inclusionProof(hashing, part, 0)).toThrow('no hash is known over the leaves 1 to 2')
})

test('a claim about a leaf outside of the tree is false', () => {
  const [root, other] = leavesOf(2) as [string, string]
  const claim = { leaf: root, index: 0, size: 1, proof: [], root }
  expect(verifyInclusion(hashing, claim)).toBe(true)
  expect(verifyInclusion(hashing, { ...claim, index: 1 })).toBe(false)
  expect(verifyInclusion(hashing, { ...claim, index: -1 })).toBe(false)
  expect(verifyInclusion(hashing, { ...claim, proof: [other] })).toBe(false)
  // A root is no leaf of its own tree.
  expect(verifyInclusion(hashing, { ...claim, size: 2 })).toBe(false)
})

test('a proof with a step too many proves nothing, whatever root it leads to', () => {
  const leaves = leavesOf(4)
  const [leaf, other] = leaves as [string, string]
  const under = (hash: string) => rootOfFirst([other, hash], 2)
  const claim = { leaf, index: 0, size: 1, proof: [other], root: under(leaf) }
  expect(verifyInclusion(hashing, claim)).toBe(false)
  const proof = consistencyProof(hashing, { start, leaves }, 3)
  const [firstRoot, secondRoot] = [rootOfFirst(leaves, 3), rootOfFirst(leaves, 4)]
  const growth = { first: 3, second: 4, firstRoot, secondRoot, proof }
  expect(verifyConsistency(hashing, growth)).toBe(true)
  const more = { firstRoot: under(firstRoot), secondRoot: under(secondRoot) }
  expect(verifyConsistency(hashing, { ...growth, ...more, proof: [...proof, other] })).toBe(false)
})

test('claims about growth without a step are true only of the same tree, and of the empty one', () => {
  const [firstRoot, other] = leavesOf(2) as [string, string]
  const claim = { first: 2, second: 2, firstRoot, secondRoot: firstRoot, proof: [] }
  expect(verifyConsistency(hashing, claim)).toBe(true)
  expect(verifyConsistency(hashing, { ...claim, secondRoot: other })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, proof: [other] })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, first: 3 })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, first: -1 })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, second: 1 })).toBe(false)
  const secondRoot = rootOfFirst([firstRoot, other], 2)
  const grown = { first: 1, second: 2, firstRoot, secondRoot, proof: [other] }
  expect(verifyConsistency(hashing, grown)).toBe(true)
  const less = { ...grown, first: -1, proof: [firstRoot, other] }
  expect(verifyConsistency(hashing, less)).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, first: 1 })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, first: 0, secondRoot: other })).toBe(true)
  expect(verifyConsistency(hashing, { ...claim, first: 0, proof: [other] })).toBe(false)
  expect(verifyConsistency(hashing, { ...claim, first: 3, second: 5 })).toBe(false)
  expect(consistencyProof(hashing, { start, leaves: leavesOf(3) }, 0)).toEqual([])
})

test('one root over the heads of logs: of any order, and another one where any part of a head is', () => {
  const heads: ChainHead[] = [
    { chain: 'b', size: 2, head: 'bb', key: 'k' },
    { chain: 'a', size: 1, head: 'aa', key: '' },
    { chain: 'ü', size: 3, head: 'cc', key: 'k' },
  ]
  const root = rootOverHeads(hashing, heads)
  const tree = createTree(hashing)
  for (const leaf of ['a\n1\naa\n\n', 'b\n2\nbb\nk\n', 'ü\n3\ncc\nk\n'])
    tree.push(hashing.sha256(Buffer.from(`\0${leaf}`)))
  expect(root).toBe(tree.root())
  expect(rootOverHeads(hashing, heads.toReversed())).toBe(root)
  const [first, ...rest] = heads as [ChainHead, ...ChainHead[]]
  for (const change of [{ chain: 'c' }, { size: 3 }, { head: 'bc' }, { key: '' }])
    expect(rootOverHeads(hashing, [{ ...first, ...change }, ...rest])).not.toBe(root)
})
