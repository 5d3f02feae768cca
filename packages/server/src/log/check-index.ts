import { setImmediate as nextTurn } from 'node:timers/promises'
import { columnFault } from '../domain/audit/columns.ts'
import { type Fault, idOf } from '../domain/audit/verify-range.ts'
import type { AuditIndex, CopiedEntry, IndexRow } from '../ports/audit-rows.ts'
import type { LoggedEntry } from './frame.ts'
import { rowOfEntry } from './read-groups.ts'
import type { Entries } from './verify-chain.ts'

/** Entries before `through` are in the index, and no others. */
export type IndexQuestion = {
  readonly chain: string
  readonly through: number
  /** Whether other nodes have chains of their own in the index. */
  readonly isShared: boolean
}

const sliceRows = 512
const lowest = Number.MIN_SAFE_INTEGER
const highest = Number.MAX_SAFE_INTEGER

/** Compares the index with the log, field by field; what is found is of the index alone. */
export const checkIndex = async (
  index: Pick<AuditIndex, 'range' | 'ends' | 'copies'>,
  entries: Entries,
  { chain, through, isShared }: IndexQuestion,
  signal?: AbortSignal,
): Promise<Fault | null> => {
  const stray = await findStray(index, { chain, through, isShared })
  if (stray) return inserted(stray)
  for await (const group of inSlices(entries(chain, 0), through)) {
    const [first, last] = [group[0] as LoggedEntry, group.at(-1) as LoggedEntry]
    const rows = await index.range(chain, first.seq, last.seq + 1, group.length)
    const differing =
      differingRow(rows, group) ??
      (isShared ? differingCopy(await index.copies(chain, first.seq, group.length), group) : null)
    if (differing) return differing
    await nextTurn()
    signal?.throwIfAborted()
  }
  return null
}

type Place = { readonly seq: number; readonly id: string | null }

/** A row where none may be: before the first entry, after the last, or in a chain that nobody writes. */
const findStray = async (
  index: Pick<AuditIndex, 'range' | 'ends' | 'copies'>,
  { chain, through, isShared }: IndexQuestion,
): Promise<Place | null> => {
  const [before] = await index.range(chain, lowest, 0, 1)
  const [after] = await index.range(chain, through, highest, 1)
  if (before ?? after) return before ?? after ?? null
  if (isShared) {
    const [copy] = await index.copies(chain, through, 1)
    return copy ? { seq: copy.seq, id: idOf(copy) } : null
  }
  for (const { chain: other } of await index.ends()) {
    const [row] = other === chain ? [] : await index.range(other, lowest, highest, 1)
    if (row) return row
  }
  return null
}

const differingRow = (rows: readonly IndexRow[], group: readonly LoggedEntry[]): Fault | null => {
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  for (const entry of group) {
    const row = bySeq.get(entry.seq)
    // What damage made unreadable cannot be indexed.
    if (!row && rowOfEntry(entry) === null) continue
    if (!row) return missing(entry)
    if (row.id !== idOf(entry)) return inserted(row)
    const column = columnFault({ ...row, hash: entry.hash, body: entry.body })
    if (column === null) continue
    const detail = `column ${column} of the index differed from the entry; the index was made anew`
    return { kind: 'modified', seq: entry.seq, id: idOf(entry), detail }
  }
  return null
}

async function* inSlices(
  entries: ReturnType<Entries>,
  through: number,
): AsyncGenerator<readonly LoggedEntry[]> {
  let slice: LoggedEntry[] = []
  for await (const group of entries) {
    for (const entry of group) {
      if (entry.seq >= through) continue
      slice.push(entry)
      if (slice.length < sliceRows) continue
      yield slice
      slice = []
    }
  }
  if (slice.length > 0) yield slice
}

/** Other nodes read the copies: they have to be the entries. */
const differingCopy = (
  copies: readonly CopiedEntry[],
  group: readonly LoggedEntry[],
): Fault | null => {
  const bySeq = new Map(copies.map((copy) => [copy.seq, copy]))
  for (const entry of group) {
    const copy = bySeq.get(entry.seq)
    if (!copy && rowOfEntry(entry) !== null) return missing(entry)
    if (!copy || (copy.hash === entry.hash && copy.body === entry.body)) continue
    const id = idOf(copy)
    if (id !== idOf(entry)) return inserted({ seq: copy.seq, id })
    const detail = 'the copy in the database differed from the entry; it was made anew'
    return { kind: 'modified', seq: entry.seq, id, detail }
  }
  return null
}

const inserted = ({ seq, id }: Place): Fault => ({
  kind: 'inserted',
  seq,
  id,
  detail: 'this service did not write this row of the index; it was taken out',
})

const missing = (entry: LoggedEntry): Fault => ({
  kind: 'missing',
  seq: entry.seq,
  id: idOf(entry),
  detail: 'the index had lost this entry; it was made anew from the log',
})
