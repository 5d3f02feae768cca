import type { IntegrityKind } from '@gatehouse/contract'
import { createLinker, type LogState } from './chain.ts'
import { columnFault } from './columns.ts'
import type { Hashing } from './hashing.ts'
import { createTree } from './merkle.ts'
import type { LogRow } from './row.ts'

/** What is wrong with a log, and where it starts. */
export type Fault = {
  readonly kind: IntegrityKind
  readonly seq: number
  /** The first entry that does not fit; where entries are gone, the one beside the gap. */
  readonly id: string | null
  readonly detail: string
}

export interface RangeVerifier {
  /** Takes the next rows, by seq. Returns the first fault; after one it must not be used again. */
  take(rows: readonly LogRow[]): Fault | null

  /** Where the log stands after what was taken. Peaks are those of the start where no tree is kept. */
  state(): LogState

  /** The root over what was taken; only where a tree is kept. */
  root(): string
}

/**
 * Re-hashes rows one after the other, from any point of a log whose state is known. The tree costs as
 * much as the chain again; it is needed where roots are compared.
 */
export const createRangeVerifier = (
  hashing: Hashing,
  from: LogState,
  options: { readonly tree: boolean },
): RangeVerifier => {
  const linker = createLinker(hashing)
  const tree = options.tree ? createTree(hashing, from) : null
  let { size, head } = from
  return {
    take(rows) {
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i] as LogRow
        if (row.seq !== size) return outOfPlace(row, size, rows)
        if (linker.link(head, row.seq, row.body) !== row.hash) {
          return classify(row, rows[i + 1])
        }
        const column = columnFault(row)
        if (column !== null) {
          return fault('modified', row, `column ${column} differs from the hashed entry`)
        }
        tree?.push(linker.leaf())
        head = row.hash
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

const fault = (kind: IntegrityKind, row: LogRow, detail: string): Fault => ({
  kind,
  seq: row.seq,
  id: row.id,
  detail,
})

const outOfPlace = (row: LogRow, expected: number, rows: readonly LogRow[]): Fault => {
  if (row.seq < expected) return fault('inserted', row, `seq ${row.seq} is there twice`)
  if (rows.some((other) => other.seq === expected)) {
    return { ...fault('reordered', row, `this entry belongs to seq ${row.seq}`), seq: expected }
  }
  const detail = `${row.seq - expected} entries are gone before ${row.id}`
  return { kind: 'missing', seq: expected, id: row.id, detail }
}

/** The place that the hashed text itself claims. */
const claimedSeq = (row: LogRow): number | null => {
  try {
    const { seq } = JSON.parse(row.body) as { seq?: unknown }
    return typeof seq === 'number' ? seq : null
  } catch {
    return null
  }
}

/** The hash does not fit, which is certain; what was done is the best guess from the entry and the next. */
const classify = (row: LogRow, next: LogRow | undefined): Fault => {
  const claimed = claimedSeq(row)
  const nextShift = next ? (claimedSeq(next) ?? next.seq) - next.seq : null
  if (claimed === null) return fault('modified', row, 'the entry cannot be read')
  if (claimed === row.seq) {
    return nextShift === -1
      ? fault('inserted', row, 'this entry was put in, and those after it were renumbered')
      : fault('modified', row, 'the hash does not fit the entry')
  }
  if (claimed < row.seq) return fault('inserted', row, `a copy of the entry at seq ${claimed}`)
  return nextShift === null || nextShift === claimed - row.seq
    ? fault('missing', row, `${claimed - row.seq} entries are gone before this one`)
    : fault('reordered', row, `this entry belongs to seq ${claimed}`)
}
