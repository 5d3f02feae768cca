import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Fault, idOf } from '../domain/audit/verify-range.ts'
import type { CopiedEntry, ReadableChains } from '../ports/audit-rows.ts'
import type { LoggedEntry } from './frame.ts'
import { rowOfEntry } from './read-groups.ts'
import type { Entries } from './verify-chain.ts'

/** Copies of the entries before `through` are in the store, and of no others. */
export type CopiesQuestion = { readonly chain: string; readonly through: number }

const sliceRows = 512
const lowest = Number.MIN_SAFE_INTEGER

/** Compares what other nodes read of this node's entries with its log; what is found is of the copies alone. */
export const checkCopies = async (
  copies: Pick<ReadableChains, 'read'>,
  entries: Entries,
  { chain, through }: CopiesQuestion,
  signal?: AbortSignal,
): Promise<Fault | null> => {
  for (const from of [lowest, through]) {
    const [stray] = await copies.read(chain, from, 1)
    if (stray && (stray.seq < 0 || stray.seq >= through)) return inserted(stray)
  }
  for await (const group of inSlices(entries(chain, 0), through)) {
    const first = group[0] as LoggedEntry
    const differing = differingCopy(await copies.read(chain, first.seq, group.length), group)
    if (differing) return differing
    await nextTurn()
    signal?.throwIfAborted()
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

const differingCopy = (
  copies: readonly CopiedEntry[],
  group: readonly LoggedEntry[],
): Fault | null => {
  const bySeq = new Map(copies.map((copy) => [copy.seq, copy]))
  for (const entry of group) {
    const copy = bySeq.get(entry.seq)
    // An entry that damage made unreadable is not copied anew.
    if (!copy && rowOfEntry(entry) !== null) return missing(entry)
    if (!copy || (copy.hash === entry.hash && copy.body === entry.body)) continue
    const id = idOf(copy)
    if (id !== idOf(entry)) return inserted(copy)
    const detail = 'the copy in the database differed from the entry; it was made anew'
    return { kind: 'modified', seq: entry.seq, id, detail }
  }
  return null
}

const inserted = (copy: CopiedEntry): Fault => ({
  kind: 'inserted',
  seq: copy.seq,
  id: idOf(copy),
  detail: 'this service did not write this copy of an entry; it was taken out',
})

const missing = (entry: LoggedEntry): Fault => ({
  kind: 'missing',
  seq: entry.seq,
  id: idOf(entry),
  detail: 'the database had lost its copy of this entry; it was made anew',
})
