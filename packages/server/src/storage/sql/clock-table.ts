import { type Kysely, sql } from 'kysely'

type Before = { meta: { key: string; value: string }; service_clock: { id: number; ms: number } }

/**
 * The service clock in a table of its own, whose type is the database's to keep: a cast of one row of
 * `meta` may be evaluated on any other row, whatever the query says about keys.
 */
export async function clockTable(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('service_clock')
    .addColumn('id', 'smallint', (c) => c.notNull().primaryKey().check(sql`id = 1`))
    .addColumn('ms', 'bigint', (c) => c.notNull())
    .execute()
  const store = db as Kysely<Before>
  const earlier = await store
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'clock_ms')
    .executeTakeFirst()
  await store
    .insertInto('service_clock')
    .values({ id: 1, ms: Number(earlier?.value ?? 0) })
    .execute()
  await store.deleteFrom('meta').where('key', '=', 'clock_ms').execute()
}
