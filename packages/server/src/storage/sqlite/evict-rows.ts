import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Storage } from '../../ports/storage.ts'
import { fromAuditRow } from '../sql/audit-codec.ts'
import type { AuditTable } from '../sql/tables.ts'
import type { SqliteConnection } from './adapter.ts'
import { appendOnlyTrigger } from './dialect.ts'

const sliceRows = 512
const range = 'from audit where chain = ? and seq >= ? and seq < ?'

/** Takes rows out of the log. The writer must be free; `ours` are hashes of rows that are kept elsewhere. */
export const evictRows =
  (writer: SqliteConnection, ours: () => ReadonlySet<string>): Storage['evictRows'] =>
  async (chain, from, to, keep) => {
    if (writer.run(`select 1 ${range} limit 1`, [chain, from, to]).rows.length === 0) return 0
    writer.exec('begin immediate')
    try {
      const known = ours()
      let count = 0
      for (let next = from; ; ) {
        const slice = writer
          .run(`select * ${range} order by seq limit ${sliceRows}`, [chain, next, to])
          .rows.map((row) => fromAuditRow(row as unknown as AuditTable))
        const last = slice.at(-1)
        if (!last) break
        const foreign = slice.filter(({ hash }) => !known.has(hash))
        if (foreign.length > 0) keep(foreign)
        count += foreign.length
        next = last.seq + 1
        await nextTurn()
      }
      writer.exec('drop trigger if exists audit_no_delete')
      writer.run(`delete ${range}`, [chain, from, to])
      writer.exec(appendOnlyTrigger('audit', 'delete'))
      writer.exec('commit')
      return count
    } catch (error) {
      writer.rollback()
      throw error
    }
  }
