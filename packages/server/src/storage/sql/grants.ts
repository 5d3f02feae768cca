import type { ExpressionBuilder } from 'kysely'
import type { GrantMoment, GrantStore, StoredGrant } from '../../ports/grants.ts'
import { first, page } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, GrantsTable, Tables } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredGrant, GrantsTable>('grants', {
  agent: text,
  capability: text,
  arguments_json: textOrNull,
  created_by: text,
  revoked_by: textOrNull,
})

const usable =
  ({ nowMs, wallMs }: GrantMoment) =>
  (eb: ExpressionBuilder<Tables, 'grants'>) =>
    eb.and([
      eb('revoked_ms', 'is', null),
      eb('expires_ms', '>', nowMs),
      eb('expires_wall_ms', '>', wallMs),
      eb.or([eb('uses_max', 'is', null), eb('used', '<', eb.ref('uses_max'))]),
    ])

export const sqlGrants = ({ read, write }: Db): GrantStore => ({
  async insert(grant) {
    await write.insertInto('grants').values(toRow(grant)).execute()
  },

  find: (id) =>
    first(read.selectFrom('grants').selectAll().where('id', '=', encodeText(id)), fromRow),

  async listUsable({ agent, capability, definition_hash, call_key }, moment) {
    const rows = await read
      .selectFrom('grants')
      .select('id')
      .where('agent', '=', encodeText(agent))
      .where('capability', '=', encodeText(capability))
      .where('definition_hash', '=', definition_hash)
      .where((eb) => eb.or([eb('call_key', 'is', null), eb('call_key', '=', call_key)]))
      .where(usable(moment))
      .orderBy('created_ms')
      .orderBy('id')
      .execute()
    return rows.map(({ id }) => id)
  },

  async use(id, moment) {
    // @SECURITY One statement compares and counts; sqlite.test.ts.
    const { numUpdatedRows } = await write
      .updateTable('grants')
      .set((eb) => ({ used: eb('used', '+', 1), last_used_ms: moment.wallMs }))
      .where('id', '=', id)
      .where(usable(moment))
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async revoke(id, ms, by) {
    const { numUpdatedRows } = await write
      .updateTable('grants')
      .set({ revoked_ms: ms, revoked_by: encodeText(by) })
      .where('id', '=', encodeText(id))
      .where('revoked_ms', 'is', null)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async revokeAllOf(agent, ms, by) {
    const rows = await write
      .updateTable('grants')
      .set({ revoked_ms: ms, revoked_by: encodeText(by) })
      .where('agent', '=', encodeText(agent))
      .where('revoked_ms', 'is', null)
      .returning('id')
      .execute()
    return rows.map(({ id }) => id).toSorted()
  },

  async list({ agent, usable: moment, limit, offset }) {
    const { values: grants, total } = await page(
      read
        .selectFrom('grants')
        .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
        .$if(moment !== undefined, (query) => query.where(usable(moment as GrantMoment)))
        .selectAll()
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { grants, total }
  },
})
