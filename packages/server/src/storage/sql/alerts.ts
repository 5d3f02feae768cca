import { sql } from 'kysely'
import type { AlertStore, StoredAlert } from '../../ports/alerts.ts'
import { first, page } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { AlertsTable, Db } from './tables.ts'
import { afterPrefix, decodeText, encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredAlert, AlertsTable>('alerts', {
  message: text,
  acknowledged_by: textOrNull,
})

/** As the index of such alerts has it, which a parameter would not be known to mean. */
const unresolved = sql<boolean>`status <> 'resolved'`

type Keyed = Pick<AlertStore, 'findOpen' | 'findUnresolved' | 'unresolvedKeys'>

/** Alerts by what they say, of which the same is not said twice. */
const keyed = ({ read }: Pick<Db, 'read'>): Keyed => ({
  async findOpen(dedupKey) {
    const row = await read
      .selectFrom('alerts')
      .selectAll()
      .where('dedup_key', '=', dedupKey)
      .where('status', '=', 'open')
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  findUnresolved: (dedupKey) =>
    first(
      read
        .selectFrom('alerts')
        .selectAll()
        .where('dedup_key', '=', encodeText(dedupKey))
        .where(unresolved)
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
      fromRow,
    ),

  async unresolvedKeys(prefix) {
    const from = encodeText(prefix)
    const to = afterPrefix(from)
    const rows = await read
      .selectFrom('alerts')
      .select('dedup_key')
      .distinct()
      .where('dedup_key', '>=', from)
      .$if(to !== null, (query) => query.where('dedup_key', '<', to as string))
      .where(unresolved)
      .execute()
    return rows.map((row) => decodeText(row.dedup_key))
  },
})

export const sqlAlerts = ({ read, write }: Db): AlertStore => ({
  ...keyed({ read }),

  async insert(alert) {
    await write.insertInto('alerts').values(toRow(alert)).execute()
  },

  find: (id) =>
    first(read.selectFrom('alerts').selectAll().where('id', '=', encodeText(id)), fromRow),

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

  async list({ status, severity, source, since_ms, until_ms, limit, offset }) {
    const { values: alerts, total } = await page(
      read
        .selectFrom('alerts')
        .$if(status !== undefined, (query) => query.where('status', '=', status as string))
        .$if(severity !== undefined, (query) => query.where('severity', '=', severity as string))
        .$if(source !== undefined, (query) => query.where('source', '=', source as string))
        .$if(since_ms !== undefined, (query) => query.where('created_ms', '>=', since_ms ?? 0))
        .$if(until_ms !== undefined, (query) => query.where('created_ms', '<=', until_ms ?? 0))
        .selectAll()
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { alerts, total }
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
