import { sql } from 'kysely'
import type { AuditIndex } from '../../ports/audit-rows.ts'
import { fromIndexRow } from './audit-codec.ts'
import { type Counted, countAudit } from './audit-count.ts'
import { queryActivity, queryAudit } from './audit-query.ts'
import { auditStats } from './audit-stats.ts'
import type { Db } from './tables.ts'
import { encodeText } from './text.ts'

const everything: Counted = {
  agent: null,
  capability: null,
  since: null,
  until: null,
  result: null,
  policy_decision: null,
}

export const sqlAuditIndex = ({ read, write }: Db): AuditIndex => ({
  async progress(chain) {
    const row = await read
      .selectFrom('audit_progress')
      .select(['next', 'counted'])
      .where('chain', '=', chain)
      .executeTakeFirst()
    return row ?? { next: 0, counted: 0 }
  },

  async size(chain) {
    const { rows } = await read
      .selectFrom('audit')
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .where('chain', '=', chain)
      .executeTakeFirstOrThrow()
    return rows
  },

  async clear(chain) {
    await write.deleteFrom('audit').where('chain', '=', chain).execute()
    await write.deleteFrom('audit_daily').where('chain', '=', chain).execute()
    await write.deleteFrom('audit_folded').where('chain', '=', chain).execute()
    await write.updateTable('audit_progress').set({ next: 0 }).where('chain', '=', chain).execute()
  },

  copies: (chain, from, limit) =>
    read
      .selectFrom('audit_copies')
      .select(['seq', 'hash', 'body'])
      .where('chain', '=', chain)
      .where('seq', '>=', from)
      .orderBy('seq')
      .limit(limit)
      .execute(),

  async dropCopies(chain) {
    await write.deleteFrom('audit_copies').where('chain', '=', chain).execute()
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
    return rows.map(fromIndexRow)
  },

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
    return row ? fromIndexRow(row) : null
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
    return rows.map(fromIndexRow)
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
