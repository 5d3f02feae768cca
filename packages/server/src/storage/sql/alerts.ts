import type { AlertStore, StoredAlert } from '../../ports/alerts.ts'
import type { AlertsTable, Db } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const toRow = (alert: StoredAlert): AlertsTable => ({
  ...alert,
  message: encodeText(alert.message),
  acknowledged_by: encodeTextOrNull(alert.acknowledged_by),
})

const fromRow = (row: AlertsTable): StoredAlert => ({
  ...row,
  message: decodeText(row.message),
  severity: row.severity as StoredAlert['severity'],
  status: row.status as StoredAlert['status'],
  acknowledged_by: decodeTextOrNull(row.acknowledged_by),
})

export const sqlAlerts = ({ read, write }: Db): AlertStore => ({
  async insert(alert) {
    await write.insertInto('alerts').values(toRow(alert)).execute()
  },

  async find(id) {
    const row = await read
      .selectFrom('alerts')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async findOpen(dedupKey) {
    const row = await read
      .selectFrom('alerts')
      .selectAll()
      .where('dedup_key', '=', dedupKey)
      .where('status', '=', 'open')
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async replace(current, next) {
    const { id, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('alerts')
      .set(changed)
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('count', '=', current.count)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async list({ status, source, limit, offset }) {
    const matching = read
      .selectFrom('alerts')
      .$if(status !== undefined, (query) => query.where('status', '=', status as string))
      .$if(source !== undefined, (query) => query.where('source', '=', source as string))
    const rows = await matching
      .selectAll()
      .orderBy('created_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    const { total } = await matching
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { alerts: rows.map(fromRow), total }
  },

  async countOpen(source) {
    const { open } = await read
      .selectFrom('alerts')
      .select((eb) => eb.fn.countAll<number>().as('open'))
      .where('status', '=', 'open')
      .$if(source !== undefined, (query) => query.where('source', '=', source as string))
      .executeTakeFirstOrThrow()
    return open
  },
})
