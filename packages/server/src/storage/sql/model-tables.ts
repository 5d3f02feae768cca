import type { Kysely, RawBuilder } from 'kysely'

/** Models whose files were verified, by the node that has the file. */
export async function modelTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('models')
    .addColumn('node', text, (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull())
    .addColumn('source', text, (c) => c.notNull())
    .addColumn('sha256', text, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('entry_json', text, (c) => c.notNull())
    .addColumn('header_json', text, (c) => c.notNull())
    .addColumn('installed_ms', 'bigint', (c) => c.notNull())
    .addColumn('verified_ms', 'bigint', (c) => c.notNull())
    .addColumn('problem', text)
    .addPrimaryKeyConstraint('models_key', ['node', 'id'])
    .execute()
}
