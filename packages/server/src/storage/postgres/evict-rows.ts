import { type Kysely, sql } from 'kysely'
import type { Storage } from '../../ports/storage.ts'
import { sqlAuditRows } from '../sql/audit-rows.ts'
import type { Tables } from '../sql/tables.ts'

const sliceRows = 512

/** Takes rows out of the log. Locks the table only where there are any. */
export const evictRows =
  (db: Kysely<Tables>): Storage['evictRows'] =>
  async (chain, from, to, keep) => {
    const first = await sqlAuditRows({ read: db, write: db }).range(chain, from, to, 1)
    if (first.length === 0) return 0
    return db.transaction().execute(async (tx) => {
      // Also keeps everybody from adding to what is being taken out.
      await sql`alter table audit disable trigger audit_append_only_rows`.execute(tx)
      const rows = sqlAuditRows({ read: tx, write: tx })
      let count = 0
      for (let next = from; ; ) {
        const slice = await rows.range(chain, next, to, sliceRows)
        const last = slice.at(-1)
        if (!last) break
        keep(slice)
        count += slice.length
        next = last.seq + 1
      }
      await tx
        .deleteFrom('audit')
        .where('chain', '=', chain)
        .where('seq', '>=', from)
        .where('seq', '<', to)
        .execute()
      await sql`alter table audit enable trigger audit_append_only_rows`.execute(tx)
      return count
    })
  }
