import { GatehouseError } from '@gatehouse/contract'
import type { Kysely } from 'kysely'
import type { MovedTable, MoveReport } from '../../domain/move-mark.ts'
import type { ChainRemoval, CopiedEntry } from '../../ports/audit-rows.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import { keepRemoval } from './audit-copies.ts'
import { copyTable, countTable, digestTable, insertRows, RowDigest } from './move-rows.ts'
import { movedTables, type TablePlan } from './moved-tables.ts'
import type { Tables } from './tables.ts'

/** One of two stores, with the uses of limits as its engine keeps them. */
export type MoveEnd = {
  readonly db: Kysely<Tables>
  stamps(): Promise<readonly LimitStamp[]>
}

export type MoveTarget = MoveEnd & {
  putStamps(stamps: readonly LimitStamp[]): Promise<void>
  /** Whether the store keeps copies of entries for other nodes. */
  readonly keepsCopies: boolean
}

/** Entries that are left of the log of a process, and its statement of those that retention removed. */
export type MovedLog = {
  entries(): Iterable<readonly CopiedEntry[]>
  readonly removals: readonly ChainRemoval[]
}

export type Move = {
  readonly source: MoveEnd
  readonly target: MoveTarget
  /** The whole log of each process of the node, by the names of their chains. */
  readonly logs: ReadonlyMap<string, MovedLog>
  /** Told when a table has arrived. */
  onTable?: (name: string, rows: number) => void
}

const planned = (): [string, TablePlan][] =>
  Object.entries(movedTables).filter((entry): entry is [string, TablePlan] => {
    const [, plan] = entry
    return typeof plan !== 'string'
  })

const copies: TablePlan = { key: ['chain', 'seq'], ofNode: 'chain' }

const digestStamps = (stamps: readonly LimitStamp[]): MovedTable => {
  const digest = new RowDigest()
  const texts = stamps.map(({ key, window_ms, at_ms }) => JSON.stringify([key, window_ms, at_ms]))
  for (const stamp of texts.sort()) digest.add({ stamp })
  return digest.end()
}

const assertSame = (name: string, sent: MovedTable, found: MovedTable): MovedTable => {
  if (sent.rows === found.rows && sent.sha256 === found.sha256) return found
  throw new GatehouseError('MoveRefused', {
    detail: `the copy of ${name} differs from the original (${found.rows} rows of ${sent.rows}); nothing was changed`,
  })
}

const copyLogs = async ({ target, logs }: Move): Promise<MovedTable> => {
  const digest = new RowDigest()
  // By name, as the copies are read back.
  for (const [chain, { entries, removals }] of [...logs].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const removal of removals) await keepRemoval(target.db, removal)
    for (const group of entries()) {
      const rows = group.map(({ seq, hash, body }) => ({ chain, seq, hash, body }))
      for (const row of rows) digest.add(row)
      await insertRows(target.db, 'audit_copies', rows)
    }
  }
  return digest.end()
}

/** Copies everything into an empty store, and compares what has arrived with what was sent. */
export const moveAll = async (move: Move): Promise<MoveReport> => {
  const { source, target, logs, onTable } = move
  const nodes = [...logs.keys()]
  const report: Record<string, MovedTable> = {}
  const arrived = (name: string, sent: MovedTable, found: MovedTable) => {
    report[name] = assertSame(name, sent, found)
    onTable?.(name, found.rows)
  }
  for (const [name, plan] of planned()) {
    const sent = await copyTable({ db: source.db, nodes }, target.db, name, plan)
    arrived(name, sent, await digestTable({ db: target.db, nodes }, name, plan))
  }
  const stamps = await source.stamps()
  await target.putStamps(stamps)
  arrived('limits', digestStamps(stamps), digestStamps(await target.stamps()))
  if (target.keepsCopies) {
    const sent = await copyLogs(move)
    arrived(
      'audit_copies',
      sent,
      await digestTable({ db: target.db, nodes }, 'audit_copies', copies),
    )
  }
  return report
}

/** Rows that would be moved, by table. */
export const countAll = async (
  source: MoveEnd,
  nodes: readonly string[],
): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {}
  for (const [name, plan] of planned())
    counts[name] = await countTable({ db: source.db, nodes }, name, plan)
  counts['limits'] = (await source.stamps()).length
  return counts
}
