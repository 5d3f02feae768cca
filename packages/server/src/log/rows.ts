import type { AuditIndex, AuditRow, AuditRows, IndexRow } from '../ports/audit-rows.ts'
import type { LogReader } from './log-files.ts'

type Parts = {
  readonly index: AuditIndex
  readonly files: Pick<LogReader, 'entry'>
  /** The chain whose entries the files have. */
  readonly chain: string
}

/** Answers queries: the index says which entries, the log what they say. */
export const createRows = ({ index, files, chain }: Parts): AuditRows => {
  const bodyOf = async (row: IndexRow): Promise<AuditRow[]> => {
    const entry =
      row.chain === chain ? files.entry(row.seq) : (await index.copies(row.chain, row.seq, 1))[0]
    // A row of the index without an entry is of somebody else, and never shown.
    return entry?.seq === row.seq ? [{ ...row, hash: entry.hash, body: entry.body }] : []
  }
  const bodiesOf = async (rows: readonly IndexRow[]): Promise<readonly AuditRow[]> => {
    const found: AuditRow[] = []
    for (const row of rows) found.push(...(await bodyOf(row)))
    return found
  }
  const page = async ({ rows, total }: { rows: readonly IndexRow[]; total: number }) => ({
    rows: await bodiesOf(rows),
    total,
  })
  return {
    async find(id) {
      const row = await index.find(id)
      return row ? ((await bodyOf(row))[0] ?? null) : null
    },
    query: async (filter) => page(await index.query(filter)),
    activity: async (filter) => page(await index.activity(filter)),
    range: async (...given) => bodiesOf(await index.range(...given)),
    openIntents: async (...given) => bodiesOf(await index.openIntents(...given)),
    ends: () => index.ends(),
    counts: (since) => index.counts(since),
    statsOf: (agent) => index.statsOf(agent),
  }
}
