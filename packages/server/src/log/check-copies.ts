import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Fault, idOf, misplaced } from '../domain/audit/verify-range.ts'
import type { CopiedEntry, ReadableChains } from '../ports/audit-rows.ts'
import type { LoggedEntry } from './frame.ts'
import { rowOfEntry } from './read-groups.ts'
import type { Entries } from './verify-chain.ts'

/** Copies of the entries before `through` are in the store. */
export type CopiesQuestion = { readonly chain: string; readonly through: number }

const sliceRows = 512

/** Compares what other nodes read of this node's entries with its log; what is found is of the copies alone. */
export const checkCopies = async (
  copies: Pick<ReadableChains, 'read'>,
  entries: Entries,
  { chain, through }: CopiesQuestion,
  signal?: AbortSignal,
): Promise<Fault | null> => {
  const [lowest] = await copies.read(chain, Number.MIN_SAFE_INTEGER, 1)
  if (lowest && lowest.seq < 0) return inserted(lowest)
  for await (const group of inSlices(entries(chain, 0), through)) {
    const first = group[0] as LoggedEntry
    const differing = differingCopy(await copies.read(chain, first.seq, group.length), group)
    if (differing) return differing
    await nextTurn()
    signal?.throwIfAborted()
  }
  return null
}

/** A last copy, in the log of another process, that does not follow the one before it. */
export const findStrayEnd = async (
  copies: Pick<ReadableChains, 'read'>,
  chain: string,
  start: number,
  end: number,
): Promise<Fault | null> => {
  const place = end > 0 ? Math.max(start, end - 2) : end - 1
  const [copy] = await copies.read(chain, place, 1)
  return copy && (copy.seq < 0 || copy.seq !== place) ? misplaced(copy, place) : null
}

/**
 * A copy behind the end of the log, of which `size` tells. An entry is in the log before it is copied, so the end is asked
 * for again once a copy was found: one of ours that came meanwhile is passed over, however many come.
 */
export const findCopyBeyond = async (
  copies: Pick<ReadableChains, 'read'>,
  chain: string,
  size: () => number,
): Promise<Fault | null> => {
  for (;;) {
    const [copy] = await copies.read(chain, size(), 1)
    if (!copy) return null
    if (copy.seq >= size()) return inserted(copy)
  }
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
