import type { Kysely, RawBuilder } from 'kysely'

/** Processes that serve the store: one, or several on a store that they share. */
export async function nodeTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('nodes')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('place', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('address', text)
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('started_ms', 'bigint', (c) => c.notNull())
    .addColumn('seen_ms', 'bigint', (c) => c.notNull())
    .addColumn('facts_json', text, (c) => c.notNull())
    .execute()
}
