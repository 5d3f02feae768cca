import type { StoredWake, WakeStore } from '../../ports/wakes.ts'
import type { Db, WakesTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const fromRow = (row: WakesTable): StoredWake => ({
  ...row,
  agent: decodeText(row.agent),
  reason: decodeTextOrNull(row.reason),
  data_json: decodeTextOrNull(row.data_json),
})

export const sqlWakes = ({ read, write }: Db): WakeStore => ({
  async put(wake) {
    const { id, ...row } = {
      ...wake,
      agent: encodeText(wake.agent),
      reason: encodeTextOrNull(wake.reason),
      data_json: encodeTextOrNull(wake.data_json),
    }
    await write
      .insertInto('wakes')
      .values({ id, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
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
