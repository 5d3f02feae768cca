import { sql } from 'kysely'
import type { AuditRows } from '../../ports/audit-rows.ts'
import { fromAuditRow, toAuditRow } from './audit-codec.ts'
import { type Counted, countAudit } from './audit-count.ts'
import { fold, foldsAt } from './audit-daily.ts'
import { queryActivity, queryAudit } from './audit-query.ts'
import { auditStats } from './audit-stats.ts'
import type { Db } from './tables.ts'
import { encodeText } from './text.ts'

const rowsPerInsert = 64

const everything: Counted = {
  agent: null,
  capability: null,
  since: null,
  until: null,
  result: null,
  policy_decision: null,
}

export const sqlAuditRows = ({ read, write }: Db): AuditRows => ({
  async insert(rows) {
    for (let from = 0; from < rows.length; from += rowsPerInsert) {
      const some = rows.slice(from, from + rowsPerInsert)
      await write.insertInto('audit').values(some.map(toAuditRow)).execute()
    }
    for (const { chain, seq } of rows) if (foldsAt(seq)) await fold(write, chain, seq)
  },

  async head(chain) {
    const row = await read
      .selectFrom('audit')
      .selectAll()
      .where('chain', '=', chain)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row ? fromAuditRow(row) : null
  },

  async range(chain, from, to, limit) {
    const rows = await read
      .selectFrom('audit')
      .selectAll()
      .where('chain', '=', chain)
      .where('seq', '>=', from)
      .where('seq', '<', to)
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(fromAuditRow)
  },

  chains: () =>
    read
      .selectFrom('audit')
      .select((eb) => ['chain', eb.fn.countAll<number>().as('rows')])
      .groupBy('chain')
      .orderBy('chain')
      .execute(),

  async ends() {
    const { rows } = await sql<{ chain: string; next: number }>`
      with recursive chains(chain) as (
        select min(chain) from audit
        union all
        select (select min(audit.chain) from audit where audit.chain > chains.chain)
        from chains where chains.chain is not null
      )
      select chain, (select max(seq) + 1 from audit where audit.chain = chains.chain) as next
      from chains where chain is not null`.execute(read)
    return rows
  },

  async find(id) {
    const row = await read
      .selectFrom('audit')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromAuditRow(row) : null
  },

  query: (filter) => queryAudit(read, filter),
  activity: (filter) => queryActivity(read, filter),

  async openIntents(chain, limit) {
    const rows = await read
      .selectFrom('audit as intent')
      .selectAll()
      .where('chain', '=', chain)
      .where('kind', '=', 'call')
      .where('result', '=', 'pending')
      .where('approval_id', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('audit as outcome')
              .select('outcome.id')
              .whereRef('outcome.intent_id', '=', 'intent.id'),
          ),
        ),
      )
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(fromAuditRow)
  },

  async counts(sinceTimestamp) {
    const calls = { ...everything, kind: 'call', since: sinceTimestamp }
    const ended = (result: string) => countAudit(read, { ...calls, result })
    return {
      calls: (await ended('success')) + (await ended('error')),
      denied: await ended('denied'),
      entries: await countAudit(read, everything),
    }
  },

  statsOf: (agent) => auditStats(read, encodeText(agent)),
})
