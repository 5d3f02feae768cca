import { createLinker, type LogState } from '../domain/audit/chain.ts'
import type { LogRow } from '../domain/audit/row.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'

/** Rows this close are fetched in one go with what lies between. */
const nearby = 16

/**
 * Re-hashes just these rows, each after its predecessor as it is stored. Before `acknowledged`, where
 * damage has been accepted, a row whose predecessor is gone has nothing to be compared with.
 */
export const verifyPage = async (
  rows: Pick<AuditRows, 'range'>,
  page: readonly LogRow[],
  acknowledged: number,
  startOf: (chain: string) => LogState,
): Promise<Fault | null> => {
  const linker = createLinker(hashing)
  for (const row of page)
    if (row.seq < 0) return misfit(row, 'inserted', 'an entry before the first')
  const sorted = page.toSorted((a, b) =>
    a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : a.seq - b.seq,
  )
  for (let first = 0; first < sorted.length; ) {
    let end = first + 1
    while (follows(sorted[end - 1], sorted[end])) end += 1
    const run = sorted.slice(first, end)
    const { chain, seq: from } = run[0] as LogRow
    const to = (run.at(-1) as LogRow).seq
    // The rows themselves are at hand: of a run without gaps, only the one before it is missing.
    const isDense = to - from === run.length - 1
    const before = await rows.range(
      chain,
      Math.max(0, from - 1),
      isDense ? from : to,
      to - from + 1,
    )
    const hashes = new Map([...before, ...run].map((row) => [row.seq, row.hash]))
    const start = startOf(chain)
    for (const row of run) {
      // Retention took it away since it was read.
      if (row.seq < start.size) continue
      const prev = row.seq === start.size ? start.head : hashes.get(row.seq - 1)
      if (prev === undefined && row.seq <= acknowledged) continue
      if (prev === undefined) return misfit(row, 'missing', 'the entry before this one is gone')
      if (linker.link(prev, row.seq, row.body) !== row.hash) {
        return misfit(row, 'modified', 'the hash does not fit the entry')
      }
    }
    first = end
  }
  return null
}

const follows = (a: LogRow | undefined, b: LogRow | undefined): boolean =>
  a !== undefined && b !== undefined && a.chain === b.chain && b.seq - a.seq <= nearby

const misfit = (row: LogRow, kind: Fault['kind'], detail: string): Fault => ({
  kind,
  seq: row.seq,
  id: row.id,
  detail,
})
