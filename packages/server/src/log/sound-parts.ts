import type { LogState } from '../domain/audit/chain.ts'
import { createTree, type Tree } from '../domain/audit/merkle.ts'
import { hashing } from './hashing.ts'
import type { Anchor, ChainQuestion, Found, Parted } from './verify-chain.ts'

/** Verifies a part of a chain, on a thread of its own. */
export type PartVerifier = (part: ChainQuestion) => Promise<Found>

const leafBytes = 32

/** The parts between the starts of segments. Each goes on from the head that its segment claims. */
const partsOf = ({ question, start, ends, anchors }: Parted): ChainQuestion[] => {
  const { chain, tree } = question
  let from = start
  return ends.map(({ size, head = '' }) => {
    const { size: first } = from
    const part = {
      ...{ chain, from, tree: false, leaves: tree, through: size },
      anchors: anchors.filter((anchor) => anchor.size > first && anchor.size <= size),
    }
    from = { size, head, peaks: [] }
    return part
  })
}

/** Results in the order of the parts; each helper has one part at a time. */
async function* inOrder(
  parts: readonly ChainQuestion[],
  helpers: readonly PartVerifier[],
): AsyncGenerator<Found> {
  const running: Promise<Found>[] = []
  const begin = (i: number): void => {
    const [part, helper] = [parts[i], helpers[i % helpers.length]]
    if (!part || !helper) return
    const result = helper(part)
    result.catch(() => undefined)
    running.push(result)
  }
  for (const i of helpers.keys()) begin(i)
  try {
    for (const i of parts.keys()) {
      const found = await (running.shift() as Promise<Found>)
      begin(i + helpers.length)
      yield found
    }
  } finally {
    await Promise.allSettled(running)
  }
}

/** Whether the tree with these leaves has every root that is known of it. */
const grow = (tree: Tree, leaves: Uint8Array, roots: readonly Anchor[], size: number): boolean => {
  const bytes = Buffer.from(leaves.buffer, leaves.byteOffset, leaves.byteLength)
  const known = roots.filter((anchor) => anchor.size > tree.size && anchor.size <= size)
  for (let at = 0; at < bytes.length; at += leafBytes) {
    tree.push(bytes.toString('hex', at, at + leafBytes))
    while (known[0]?.size === tree.size) if (known.shift()?.root !== tree.root()) return false
  }
  return tree.size === size
}

/**
 * The state up to which a chain is sound, by whole parts that are verified several at once: their hashes, seals and
 * files, and the tree over all of them against every root. What is not sound is left for the walk from there on, so
 * that a finding is the same whoever helped.
 */
export const passSoundParts = async (
  parted: Parted,
  helpers: readonly PartVerifier[],
): Promise<LogState> => {
  const { question, start, anchors, ends } = parted
  if (helpers.length < 2 || ends.length < 2) return start
  const tree = question.tree ? createTree(hashing, start) : null
  const roots = anchors.filter(({ root }) => root !== undefined).toSorted((a, b) => a.size - b.size)
  let state = start
  let i = 0
  for await (const { fault, state: end, leaves } of inOrder(partsOf(parted), helpers)) {
    const isWhole = !fault && end.size === ends[i]?.size
    i += 1
    if (!isWhole || (tree && !(leaves && grow(tree, leaves, roots, end.size)))) break
    state = { size: end.size, head: end.head, peaks: tree?.peaks() ?? start.peaks }
  }
  return state
}
