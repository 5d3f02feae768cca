import { randomBytes } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

const key = 'store_id'

export const readStoreId = async (db: Kysely<Tables>): Promise<string | null> => {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}

/**
 * Refuses a store that is not the expected one, before anything is written to it. `place` names it for people.
 * @SECURITY A log compared with another store looks tampered with for ever; store-id.test.ts fails without it.
 */
export const assertStoreId = async (
  db: Kysely<Tables>,
  expected: string | null,
  place: string,
): Promise<void> => {
  if (expected === null) return
  const tables = await db.introspection.getTables()
  const found = tables.some(({ name }) => name === 'meta') ? await readStoreId(db) : null
  if (found === expected) return
  const held = found === null ? 'an empty or foreign database' : `the store ${found}`
  throw new GatehouseError(
    'StoreMismatch',
    {
      detail: `the data directory belongs to the store ${expected}, as its store.json says, and ${place} is ${held}`,
    },
    {
      recovery: [
        { action: '--data-dir', description: 'Name the data directory of this store.' },
        { action: 'database_url', description: 'Name the database of this data directory.' },
      ],
    },
  )
}

/** The id of this store, made with the store. Of nodes that open a new one at once, all get the same. */
export const claimStoreId = async (db: Kysely<Tables>): Promise<string> => {
  const known = await readStoreId(db)
  if (known !== null) return known
  const value = `store-${randomBytes(12).toString('hex')}`
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return (await readStoreId(db)) ?? value
}
