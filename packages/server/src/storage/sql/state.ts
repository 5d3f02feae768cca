import { sql } from 'kysely'
import {
  type StatePast,
  type StateStore,
  type StoredState,
  statePastBytesMax,
  statePastMax,
} from '../../ports/state.ts'
import { first } from './queries.ts'
import { rowCodec, text } from './row-codec.ts'
import type { Db, StateTable } from './tables.ts'
import { afterPrefix, decodeText, encodeText } from './text.ts'

/** Keys hold neither a NUL nor half a surrogate pair, and JSON escapes both: only names are encoded. */
const { toRow, fromRow } = rowCodec<StoredState, StateTable>('state', {
  updated_by: text,
})

const keptPast = (json: string | null): string | null =>
  json !== null && json.length <= statePastBytesMax ? json : null

const count = async (write: Db['write'], area: string, keys: number, size_bytes: number) => {
  if (keys === 0 && size_bytes === 0) return
  await write
    .insertInto('state_areas')
    .values({ area, keys, size_bytes })
    .onConflict((conflict) =>
      conflict.column('area').doUpdateSet((eb) => ({
        keys: eb('state_areas.keys', '+', keys),
        size_bytes: eb('state_areas.size_bytes', '+', size_bytes),
      })),
    )
    .execute()
}

const put = async (
  write: Db['write'],
  current: StoredState | null,
  next: StoredState,
): Promise<boolean> => {
  const row = toRow(next)
  if (current === null) {
    const { numInsertedOrUpdatedRows } = await write
      .insertInto('state')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    return Boolean(numInsertedOrUpdatedRows)
  }
  const { area, key, ...changed } = row
  const { numUpdatedRows } = await write
    .updateTable('state')
    .set(changed)
    .where('area', '=', area)
    .where('key', '=', key)
    .where('version', '=', current.version)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

const remember = async (write: Db['write'], next: StoredState) => {
  const { area, key, version, value_json, updated_ms } = toRow(next)
  await write
    .insertInto('state_past')
    .values({
      area,
      key,
      version,
      value_json: keptPast(value_json),
      deleted: value_json === null ? 1 : 0,
      updated_ms,
      updated_by: encodeText(next.updated_by),
    })
    .execute()
  await write
    .deleteFrom('state_past')
    .where('area', '=', area)
    .where('key', '=', key)
    .where('version', '<=', version - statePastMax)
    .execute()
}

const values = ({ read, write }: Db): Pick<StateStore, 'find' | 'list' | 'usage' | 'replace'> => ({
  find: (area, key) =>
    first(
      read.selectFrom('state').selectAll().where('area', '=', area).where('key', '=', key),
      fromRow,
    ),

  async list(area, { prefix, after, nowMs, limit }) {
    const end = prefix === '' ? null : afterPrefix(prefix)
    const rows = await read
      .selectFrom('state')
      .selectAll()
      .where('area', '=', area)
      .where('value_json', 'is not', null)
      .where((eb) => eb.or([eb('expires_ms', 'is', null), eb('expires_ms', '>', nowMs)]))
      .$if(prefix !== '', (query) => query.where('key', '>=', prefix))
      .$if(end !== null, (query) => query.where('key', '<', end as string))
      .$if(after !== null, (query) => query.where('key', '>', after as string))
      .orderBy('key')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async usage(area) {
    const row = await read
      .selectFrom('state_areas')
      .select(['keys', 'size_bytes'])
      .where('area', '=', area)
      .executeTakeFirst()
    return row ?? { keys: 0, size_bytes: 0 }
  },

  async replace(current, next, { past }) {
    if (!(await put(write, current, next))) return false
    const had = current !== null && current.value_json !== null ? 1 : 0
    const has = next.value_json === null ? 0 : 1
    await count(write, next.area, has - had, next.size_bytes - (current?.size_bytes ?? 0))
    if (past) await remember(write, next)
    return true
  },
})

const past = ({ read }: Db): Pick<StateStore, 'history'> => ({
  async history(area, key, limit) {
    const rows = await read
      .selectFrom('state_past')
      .select(['version', 'value_json', 'deleted', 'updated_ms', 'updated_by'])
      .where('area', '=', area)
      .where('key', '=', key)
      .orderBy('version', 'desc')
      .limit(limit)
      .execute()
    return rows.map(
      (row): StatePast => ({
        ...row,
        deleted: row.deleted === 1,
        updated_by: decodeText(row.updated_by),
      }),
    )
  },
})

const removals = ({
  read,
  write,
}: Db): Pick<StateStore, 'listExpired' | 'removeAreas' | 'removeDeleted'> => ({
  async listExpired(nowMs, limit) {
    const rows = await read
      .selectFrom('state')
      .selectAll()
      .where('expires_ms', 'is not', null)
      .where('value_json', 'is not', null)
      .where('expires_ms', '<=', nowMs)
      .orderBy('expires_ms')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async removeAreas(prefix) {
    const end = afterPrefix(prefix)
    for (const table of ['state', 'state_past', 'state_areas'] as const)
      await write
        .deleteFrom(table)
        .where('area', '>=', prefix)
        .$if(end !== null, (query) => query.where('area', '<', end as string))
        .execute()
  },

  async removeDeleted(beforeMs, limit) {
    const gone = await write
      .selectFrom('state')
      .select(['area', 'key', 'version'])
      .where('value_json', 'is', null)
      .where('updated_ms', '<', beforeMs)
      .orderBy('updated_ms')
      .limit(limit)
      .execute()
    for (const { area, key } of gone) {
      await sql`delete from state where area = ${area} and key = ${key} and value_json is null`.execute(
        write,
      )
      await write.deleteFrom('state_past').where('area', '=', area).where('key', '=', key).execute()
    }
    return gone.length
  },
})

export const sqlState = (db: Db): StateStore => ({
  ...values(db),
  ...past(db),
  ...removals(db),
})
