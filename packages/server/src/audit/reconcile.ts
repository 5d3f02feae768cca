import { createLinker, type LogState, leafOf } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import type { LogRow } from '../domain/audit/row.ts'
import { createRangeVerifier } from '../domain/audit/verify-range.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'
import type { Alarm } from './mark.ts'
import { cutOff } from './verify-chain.ts'

type Reconciled = { readonly state: LogState; readonly alarm: Alarm | null }

const sliceRows = 512
const hex = /^[0-9a-f]{64}$/

/**
 * Brings a known state up to what the store holds: the rows after it, which a crash or an unknown outcome
 * left without a mark. A shorter log leaves the state as it is, so that no `seq` is ever used twice and
 * the tree stays consistent with every checkpoint; the gap is an alarm.
 */
export const reconcile = async (
  rows: Pick<AuditRows, 'range' | 'head'>,
  chain: string,
  known: LogState,
  isOurs: (row: LogRow) => boolean = () => true,
): Promise<Reconciled> => {
  const last = await rows.head(chain)
  const stored = last ? last.seq + 1 : 0
  if (stored < known.size) {
    return { state: known, alarm: await cutOff(rows, chain, stored, known.size) }
  }
  const atMark = (await rows.range(chain, known.size - 1, known.size, 1))[0]
  if (known.size > 0 && atMark?.hash !== known.head) {
    const alarm: Alarm = {
      kind: 'modified',
      seq: known.size - 1,
      id: atMark?.id ?? last?.id ?? null,
      detail: `the log does not hold the entry that the high-water mark was made over`,
    }
    return { state: (await extend(rows, chain, known, isOurs)).state, alarm }
  }
  return extend(rows, chain, known, isOurs)
}

/** Takes in every row after the state, sound or not: what is unsound is an alarm, not a lost entry. */
export const extend = async (
  rows: Pick<AuditRows, 'range'>,
  chain: string,
  from: LogState,
  isOurs: (row: LogRow) => boolean,
): Promise<Reconciled> => {
  const verifier = createRangeVerifier(hashing, from, { tree: false })
  const linker = createLinker(hashing)
  const tree = createTree(hashing, from)
  let head = from.head
  let alarm: Alarm | null = null
  for (;;) {
    const slice = await rows.range(chain, tree.size, Number.MAX_SAFE_INTEGER, sliceRows)
    if (slice.length === 0) break
    alarm ??= verifier.take(slice)
    for (const row of slice) {
      if (!alarm && !isOurs(row)) {
        alarm = {
          kind: 'inserted',
          seq: row.seq,
          id: row.id,
          detail: 'nobody here wrote this entry',
        }
      }
      // Entries that are gone keep their place in the tree, as leaves of nothing.
      while (tree.size < row.seq) tree.push(leafOf(linker, tree.size, ''))
      tree.push(leafOf(linker, row.seq, row.body))
      if (hex.test(row.hash)) head = row.hash
    }
  }
  return { state: { size: tree.size, head, peaks: tree.peaks() }, alarm }
}
