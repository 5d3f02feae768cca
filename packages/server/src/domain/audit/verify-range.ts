import type { IntegrityKind } from '@gatehouse/contract'
import { createLinker, type LogState } from './chain.ts'
import type { Hashing } from './hashing.ts'
import { createTree } from './merkle.ts'
import { type LogRow, seqMax } from './row.ts'

/** Fault of a log, and where it starts. */
export type Fault = {
  readonly kind: IntegrityKind
  readonly seq: number
  /** The first entry that does not fit; where entries are gone, the one beside the gap. */
  readonly id: string | null
  readonly detail: string
}

/** An entry at its place, as it was hashed. */
export type HashedEntry = Pick<LogRow, 'seq' | 'hash' | 'body'>

export interface RangeVerifier {
  /**
   * Takes the next entries, by seq; `around` are those that lie beside them. Returns the first fault; after one it
   * must not be used again.
   */
  take(entries: readonly HashedEntry[], around?: readonly HashedEntry[]): Fault | null

  /** Where the log stands after what was taken. Peaks are those of the start where no tree is kept. */
  state(): LogState

  /** The root over what was taken; only where a tree is kept. */
  root(): string
}

/** Count of entries that are not there, as text. */
export const goneText = (count: number): string =>
  count === 1 ? '1 entry is gone' : `${count} entries are gone`

const fieldsOf = ({ body }: HashedEntry): { readonly id?: unknown; readonly seq?: unknown } => {
  try {
    return JSON.parse(body) as { id?: unknown; seq?: unknown }
  } catch {
    return {}
  }
}

/** The id that the hashed text has; null where it cannot be read. */
export const idOf = (entry: HashedEntry): string | null => {
  const { id } = fieldsOf(entry)
  return typeof id === 'string' ? id : null
}

/**
 * Re-hashes entries one after the other, from any point of a log whose state is known. The tree costs as
 * much as the chain again; it is needed where roots are compared.
 */
export const createRangeVerifier = (
  hashing: Hashing,
  from: LogState,
  options: { readonly tree: boolean; readonly leaf?: (leaf: string) => void },
): RangeVerifier => {
  const linker = createLinker(hashing)
  const tree = options.tree ? createTree(hashing, from) : null
  let { size, head } = from
  return {
    take(entries, around = entries) {
      for (const entry of entries) {
        if (entry.seq !== size) return misplaced(entry, size, around)
        if (linker.link(head, entry.seq, entry.body) !== entry.hash)
          return classify(entry, around[around.indexOf(entry) + 1])
        if (tree || options.leaf) {
          const leaf = linker.leaf()
          tree?.push(leaf)
          options.leaf?.(leaf)
        }
        head = entry.hash
        size += 1
      }
      return null
    },
    state: () => ({ size, head, peaks: tree ? tree.peaks() : from.peaks }),
    root() {
      if (!tree) throw new Error('this verifier keeps no tree')
      return tree.root()
    },
  }
}

const fault = (kind: IntegrityKind, entry: HashedEntry, detail: string): Fault => ({
  kind,
  seq: entry.seq,
  id: idOf(entry),
  detail,
})

/** Fault of an entry that is not the one expected at its place; `around` are those that lie beside it. */
export const misplaced = (
  entry: HashedEntry,
  expected: number,
  around: readonly HashedEntry[] = [],
): Fault => {
  if (entry.seq < 0 || entry.seq >= seqMax)
    return fault('inserted', entry, 'no log has an entry of such a number')
  if (entry.seq < expected) return fault('inserted', entry, `seq ${entry.seq} is there twice`)
  if (around.some((other) => other.seq === expected)) {
    return { ...fault('reordered', entry, `this entry belongs to seq ${entry.seq}`), seq: expected }
  }
  const detail = `${goneText(entry.seq - expected)} before ${idOf(entry)}`
  return { kind: 'missing', seq: expected, id: idOf(entry), detail }
}

/** The place that the hashed text itself claims. */
const claimedSeq = (entry: HashedEntry): number | null => {
  const { seq } = fieldsOf(entry)
  return typeof seq === 'number' ? seq : null
}

/** The hash does not fit, which is certain; what was done is the best guess from the entry and the next. */
const classify = (entry: HashedEntry, next: HashedEntry | undefined): Fault => {
  const claimed = claimedSeq(entry)
  const nextShift = next ? (claimedSeq(next) ?? next.seq) - next.seq : null
  if (claimed === null) return fault('modified', entry, 'the entry cannot be read')
  if (claimed === entry.seq) {
    return nextShift === -1
      ? fault('inserted', entry, 'this entry was put in, and those after it were renumbered')
      : fault('modified', entry, 'the hash does not fit the entry')
  }
  if (claimed < entry.seq) return fault('inserted', entry, `a copy of the entry at seq ${claimed}`)
  return nextShift === null || nextShift === claimed - entry.seq
    ? fault('missing', entry, `${goneText(claimed - entry.seq)} before this one`)
    : fault('reordered', entry, `this entry belongs to seq ${claimed}`)
}
