import type { StoredWake, WakeStore } from '../../ports/wakes.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, WakesTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredWake, WakesTable>('wakes', {
  agent: text,
  reason: textOrNull,
  data_json: textOrNull,
})

export const sqlWakes = ({ read, write }: Db): WakeStore => ({
  async put(wake) {
    const row = toRow(wake)
    const { id: _id, ...changed } = row
    await write
      .insertInto('wakes')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
      .execute()
  },

  async listOpen(limit) {
    const rows = await read
      .selectFrom('wakes')
      .selectAll()
      .where('seen_ms', 'is', null)
      .orderBy('woken_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async listOf(agent, sinceMs, limit) {
    const rows = await read
      .selectFrom('wakes')
      .selectAll()
      .where('agent', '=', encodeText(agent))
      .where('woken_ms', '>=', sinceMs)
      .orderBy('woken_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(fromRow).toReversed()
  },

  async seen(ids, ms) {
    if (ids.length === 0) return
    await write
      .updateTable('wakes')
      .set({ seen_ms: ms })
      .where('id', 'in', ids)
      .where('seen_ms', 'is', null)
      .execute()
  },

  async prune(beforeMs) {
    await write.deleteFrom('wakes').where('woken_ms', '<', beforeMs).execute()
  },
})
