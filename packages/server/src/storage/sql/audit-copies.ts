import { sql } from 'kysely'
import type { AuditCopies } from '../../ports/audit-rows.ts'
import type { Db } from './tables.ts'

export const sqlAuditCopies = ({ read, write }: Db): Omit<AuditCopies, 'takeForeign'> => ({
  read: (chain, from, limit) =>
    read
      .selectFrom('audit_copies')
      .select(['seq', 'hash', 'body'])
      .where('chain', '=', chain)
      .where('seq', '>=', from)
      .orderBy('seq')
      .limit(limit)
      .execute(),

  async ends() {
    const { rows } = await sql<{ chain: string; next: number }>`
      with recursive chains(chain) as (
        select min(chain) from audit_copies
        union all
        select (select min(audit_copies.chain) from audit_copies where audit_copies.chain > chains.chain)
        from chains where chains.chain is not null
      )
      select chain, (select max(seq) + 1 from audit_copies where audit_copies.chain = chains.chain) as next
      from chains where chain is not null`.execute(read)
    return rows
  },

  async drop(chain) {
    await write.deleteFrom('audit_copies').where('chain', '=', chain).execute()
  },
})

/** The first entry of a chain of which invocations and uses of limits are not stored. */
export const recordedIn = async ({ read }: Pick<Db, 'read'>, chain: string): Promise<number> => {
  const row = await read
    .selectFrom('audit_progress')
    .select('counted')
    .where('chain', '=', chain)
    .executeTakeFirst()
  return row?.counted ?? 0
}
