import { GatehouseError } from '@gatehouse/contract'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import type { MoveMark } from '../../domain/move-mark.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { MoveEnd, MoveTarget } from '../sql/move-all.ts'
import { readMark, writeMark } from '../sql/move-mark.ts'
import { insertRows } from '../sql/move-rows.ts'
import { movedTables } from '../sql/moved-tables.ts'
import { readStoreId } from '../sql/store-id.ts'
import type { Tables } from '../sql/tables.ts'
import { decodeText, encodeText } from '../sql/text.ts'
import { BoundedClient, bounded } from './bounded-client.ts'
import { applySettings, postgresDialect, postgresFailure, types } from './dialect.ts'
import { assertServerSettings } from './settings.ts'
import { upgradePostgres } from './upgrade.ts'

const rowsOfInsert = 1_000

/** The pool waits for the promise, though its types say void. */
const hooks: object = { onConnect: applySettings }

export type PostgresEnd = AsyncDisposable & {
  /** Raises `MoveRefused` where the database has anything but what an interrupted move of this store left. */
  assertFree(sourceId: string): Promise<void>
  /** Fills the database in one transaction: whatever ends it, it is filled and marked, or as it was. */
  fill<T>(work: (target: MoveTarget) => Promise<T>): Promise<T>
  /** Reads the store as it is at one moment. */
  read<T>(work: (source: MoveEnd) => Promise<T>): Promise<T>
  mark(): Promise<MoveMark | null>
  setMark(mark: MoveMark | null): Promise<void>
}

type StampRow = { key: string; n: number; uses: number; at_ms: number; expires_ms: number }

const readStamps = async (db: Kysely<Tables>): Promise<readonly LimitStamp[]> => {
  const { rows } = await sql<StampRow>`
    select key, n, uses, at_ms, expires_ms from limit_stamps order by at_ms, key, n`.execute(db)
  return rows.flatMap(({ key, uses, at_ms, expires_ms }) =>
    Array.from({ length: uses }, () => ({
      key: decodeText(key),
      at_ms,
      window_ms: expires_ms - at_ms,
    })),
  )
}

/** Uses of a key are numbered in their order, and those of one moment are one row. */
const writeStamps = async (db: Kysely<Tables>, stamps: readonly LimitStamp[]): Promise<void> => {
  const keys = new Map<string, { key: string; n: number; at_ms: number; window_ms: number }>()
  const rows: StampRow[] = []
  const newest = new Map<string, StampRow>()
  for (const { key: raw, window_ms, at_ms } of stamps.toSorted((a, b) => a.at_ms - b.at_ms)) {
    const key = encodeText(raw)
    const n = (keys.get(key)?.n ?? 0) + 1
    keys.set(key, { key, n, at_ms, window_ms })
    const known = newest.get(key)
    if (known?.at_ms === at_ms && known.expires_ms === at_ms + window_ms) {
      known.n = n
      known.uses += 1
      continue
    }
    const row = { key, n, uses: 1, at_ms, expires_ms: at_ms + window_ms }
    newest.set(key, row)
    rows.push(row)
  }
  const all = [
    ['limit_keys', [...keys.values()]],
    ['limit_stamps', rows],
  ] as const
  for (const [table, made] of all)
    for (let at = 0; at < made.length; at += rowsOfInsert)
      await insertRows(db, table, made.slice(at, at + rowsOfInsert))
}

const endOf = (db: Kysely<Tables>): MoveTarget => ({
  db,
  keepsCopies: true,
  stamps: () => readStamps(db),
  putStamps: (stamps) => writeStamps(db, stamps),
})

const assertFree = async (db: Kysely<Tables>, sourceId: string): Promise<void> => {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'meta')) return
  const mark = await readMark(db)
  if (mark?.state === 'arriving' && mark.from_store === sourceId) return
  const id = await readStoreId(db)
  if (id === null && mark === null) return
  throw new GatehouseError('MoveRefused', {
    detail: `the database has the store ${id ?? '(without an id)'} already; name an empty one`,
  })
}

/** Opens a database as one of the two ends of a move; it makes and changes nothing until it is asked to. */
export const openPostgresEnd = async (url: string): Promise<PostgresEnd> => {
  const pool = new pg.Pool({ ...bounded(url), Client: BoundedClient, max: 2, types, ...hooks })
  // The statement that runs hears of a lost connection; without a listener the process would end.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool) })
  try {
    await assertServerSettings(db as Kysely<unknown>)
  } catch (error) {
    await db.destroy()
    throw postgresFailure(error)
  }
  const cleared = [...Object.keys(movedTables), 'limit_keys', 'limit_stamps']
  return {
    assertFree: (sourceId) => assertFree(db, sourceId),
    async fill(work) {
      await upgradePostgres(url)
      return db.transaction().execute(async (tx) => {
        await sql`truncate ${sql.join(cleared.map((name) => sql.table(name)))}`.execute(tx)
        return work(endOf(tx))
      })
    },
    read: (work) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((tx) => work(endOf(tx))),
    mark: () => readMark(db),
    setMark: (mark) => writeMark(db, mark),
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}
