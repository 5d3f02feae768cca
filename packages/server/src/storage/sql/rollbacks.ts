import { parseStored } from '../../domain/parse-stored.ts'
import type { RollbackStore, StoredRollback } from '../../ports/writes.ts'
import { first, page } from './queries.ts'
import type { Db, RollbacksTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const toRow = ({ differences, ...point }: StoredRollback): RollbacksTable => ({
  ...point,
  agent: encodeText(point.agent),
  error_json: encodeTextOrNull(point.error_json),
  differences_json: JSON.stringify(differences),
  rolled_back_by: encodeTextOrNull(point.rolled_back_by),
})

const fromRow = ({ differences_json, ...row }: RollbacksTable): StoredRollback => ({
  ...row,
  status: row.status as StoredRollback['status'],
  agent: decodeText(row.agent),
  error_json: decodeTextOrNull(row.error_json),
  differences: parseStored(differences_json, 'rollbacks.differences_json'),
  rolled_back_by: decodeTextOrNull(row.rolled_back_by),
})

const captures = ({ read, write }: Db): Pick<RollbackStore, 'putCapture' | 'capture'> => ({
  async putCapture(writeId, captureJson) {
    const capture_json = encodeText(captureJson)
    await write
      .insertInto('write_captures')
      .values({ write_id: writeId, capture_json })
      .onConflict((conflict) => conflict.column('write_id').doUpdateSet({ capture_json }))
      .execute()
  },

  async capture(writeId) {
    const row = await read
      .selectFrom('write_captures')
      .select('capture_json')
      .where('write_id', '=', writeId)
      .executeTakeFirst()
    return row ? decodeText(row.capture_json) : null
  },
})

const points = ({
  read,
  write,
}: Db): Pick<
  RollbackStore,
  'put' | 'find' | 'ofWrite' | 'ofWrites' | 'replace' | 'removeOfWrite'
> => ({
  async put(point) {
    const row = toRow(point)
    const { write_id: _write, ...changed } = row
    await write
      .insertInto('rollbacks')
      .values(row)
      .onConflict((conflict) => conflict.column('write_id').doUpdateSet(changed))
      .execute()
  },

  find: (id) =>
    first(read.selectFrom('rollbacks').selectAll().where('id', '=', encodeText(id)), fromRow),

  ofWrite: (writeId) =>
    first(
      read.selectFrom('rollbacks').selectAll().where('write_id', '=', encodeText(writeId)),
      fromRow,
    ),

  async ofWrites(writeIds) {
    if (writeIds.length === 0) return []
    const rows = await read
      .selectFrom('rollbacks')
      .selectAll()
      .where('write_id', 'in', writeIds)
      .execute()
    return rows.map(fromRow)
  },

  async replace(current, next) {
    const { id, write_id, service, operation, agent, created_ms, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('rollbacks')
      .set(changed)
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('owner', 'is not distinct from', current.owner)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async removeOfWrite(writeId) {
    await write.deleteFrom('rollbacks').where('write_id', '=', writeId).execute()
  },
})

const overviews = ({ read }: Db): Pick<RollbackStore, 'listLost' | 'list' | 'counts'> => ({
  async listLost({ owner, nowMs }) {
    const rows = await read
      .selectFrom('rollbacks')
      .selectAll()
      .where('status', '=', 'rolling_back')
      .where((eb) =>
        eb.or([eb('lease_ms', '<=', nowMs), ...(owner ? [eb('owner', '=', owner)] : [])]),
      )
      .orderBy('id')
      .limit(1_000)
      .execute()
    return rows.map(fromRow)
  },

  async list({ service, statuses, since_ms, until_ms, limit, offset }) {
    const { values: points, total } = await page(
      read
        .selectFrom('rollbacks')
        .where('status', '!=', 'pending')
        .$if(service !== undefined, (query) => query.where('service', '=', service ?? ''))
        .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
        .$if(since_ms !== undefined, (query) => query.where('created_ms', '>=', since_ms ?? 0))
        .$if(until_ms !== undefined, (query) => query.where('created_ms', '<=', until_ms ?? 0))
        .selectAll()
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { points, total }
  },

  async counts() {
    const rows = await read
      .selectFrom('rollbacks')
      .select((eb) => ['service', eb.fn.countAll<number>().as('points')])
      .where('status', '=', 'ready')
      .groupBy('service')
      .execute()
    return new Map(rows.map(({ service, points }) => [service, points]))
  },
})

const removals = ({ write }: Db): Pick<RollbackStore, 'expire' | 'removeOfService'> => ({
  async expire(wallMs) {
    await write
      .updateTable('rollbacks')
      .set({ status: 'expired' })
      .where('status', 'in', ['ready', 'refused'])
      .where('expires_ms', '<=', wallMs)
      .execute()
    await write
      .deleteFrom('write_captures')
      .where('write_id', 'in', (eb) =>
        eb.selectFrom('rollbacks').select('write_id').where('status', '=', 'expired'),
      )
      .execute()
  },

  async removeOfService(service) {
    await write
      .deleteFrom('write_captures')
      .where((eb) =>
        eb.or([
          eb('write_id', 'in', eb.selectFrom('writes').select('id').where('service', '=', service)),
          eb(
            'write_id',
            'in',
            eb.selectFrom('rollbacks').select('write_id').where('service', '=', service),
          ),
        ]),
      )
      .execute()
    await write.deleteFrom('rollbacks').where('service', '=', service).execute()
  },
})

export const sqlRollbacks = (db: Db): RollbackStore => ({
  ...captures(db),
  ...points(db),
  ...overviews(db),
  ...removals(db),
})
