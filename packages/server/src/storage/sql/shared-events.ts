import type { SharedEvent, SharedEventStore } from '../../ports/shared-events.ts'
import { json, rowCodec, text } from './row-codec.ts'
import type { Db, SharedEventsTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<SharedEvent, Omit<SharedEventsTable, 'id'>>('shared_events', {
  event: json,
  node: text,
})

export const sqlSharedEvents = ({ read, write }: Db): SharedEventStore => ({
  async add(events) {
    if (events.length === 0) return
    await write
      .insertInto('shared_events')
      .values(events.map((shared) => ({ ...toRow(shared), id: encodeText(shared.event.id) })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  },

  async listSince(atMs, exceptOf, limit) {
    const rows = await read
      .selectFrom('shared_events')
      .select(['event', 'node', 'at_ms'])
      .where('at_ms', '>=', atMs)
      .where('node', '!=', encodeText(exceptOf))
      .orderBy('at_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async prune(beforeMs) {
    await write.deleteFrom('shared_events').where('at_ms', '<', beforeMs).execute()
  },
})
