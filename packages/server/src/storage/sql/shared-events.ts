import { sql } from 'kysely'
import type { SharedEvent, SharedEventStore } from '../../ports/shared-events.ts'
import { json, rowCodec, text } from './row-codec.ts'
import type { StoreDialect } from './store-dialect.ts'
import type { Db, SharedEventsTable } from './tables.ts'
import { encodeText } from './text.ts'

type Row = Omit<SharedEventsTable, 'id' | 'stored_by'>
const { toRow, fromRow } = rowCodec<SharedEvent, Row>('shared_events', { event: json, node: text })

export const sqlSharedEvents = (
  { read, write }: Db,
  { eventHorizon }: Pick<StoreDialect, 'eventHorizon'>,
): SharedEventStore => ({
  async add(events) {
    if (events.length === 0) return
    await write
      .insertInto('shared_events')
      .values(events.map((shared) => ({ ...toRow(shared), id: encodeText(shared.event.id) })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  },

  async horizon() {
    const { rows } = await sql<{ horizon: number }>`select ${eventHorizon} as horizon`.execute(read)
    return rows[0]?.horizon ?? Number.NaN
  },

  async listAfter({ stored_by, at_ms, id }, exceptOf, limit) {
    const rows = await read
      .selectFrom('shared_events')
      .select(['event', 'node', 'at_ms', 'stored_by'])
      .where(sql<boolean>`(stored_by, at_ms, id) > (${stored_by}, ${at_ms}, ${encodeText(id)})`)
      .where('node', '!=', encodeText(exceptOf))
      .orderBy('stored_by')
      .orderBy('at_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(({ stored_by: by, ...row }) => ({ ...fromRow(row), stored_by: by }))
  },

  async prune(beforeMs) {
    await write.deleteFrom('shared_events').where('at_ms', '<', beforeMs).execute()
  },
})
