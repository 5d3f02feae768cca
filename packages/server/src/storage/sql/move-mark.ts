import type { Kysely } from 'kysely'
import { assertServable, type MoveMark, moveKey, parseMark } from '../../domain/move-mark.ts'
import { sqlMeta } from './meta.ts'
import type { Tables } from './tables.ts'

const metaOf = (db: Kysely<Tables>) => sqlMeta({ read: db, write: db })

/** Null also for a store that has no tables yet. */
export const readMark = async (db: Kysely<Tables>): Promise<MoveMark | null> => {
  const tables = await db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'meta')) return null
  return parseMark(await metaOf(db).get(moveKey))
}

export const writeMark = (db: Kysely<Tables>, mark: MoveMark | null): Promise<void> =>
  metaOf(db).set(moveKey, mark === null ? '' : JSON.stringify(mark))

export const assertNotMoved = async (db: Kysely<Tables>): Promise<void> =>
  assertServable(await readMark(db))
