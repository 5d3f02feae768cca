import type { Kysely, RawBuilder } from 'kysely'

/** Secrets: scopes in the clear, values only sealed. */
export async function secretTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('secrets')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('name', text, (c) => c.notNull().unique())
    .addColumn('description', text, (c) => c.notNull())
    .addColumn('capabilities', text, (c) => c.notNull())
    .addColumn('hosts', text, (c) => c.notNull())
    .addColumn('agents', text, (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('root_id', text, (c) => c.notNull())
    .addColumn('wrapped_key', text, (c) => c.notNull())
    .addColumn('sealed_value', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('rotated_ms', 'bigint', (c) => c.notNull())
    .addColumn('scoped_ms', 'bigint', (c) => c.notNull())
    .addColumn('uses', 'bigint', (c) => c.notNull())
    .addColumn('last_use', text)
    .addColumn('rotation_request', text)
    .execute()
}
