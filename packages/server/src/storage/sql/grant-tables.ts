import { type Kysely, type RawBuilder, sql } from 'kysely'
import { index } from './create-index.ts'

/** Standing grants, and what a person changed in a request before it ran. */
export async function grantTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('grants')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('definition_hash', text, (c) => c.notNull())
    .addColumn('match', text, (c) => c.notNull())
    .addColumn('call_key', text)
    .addColumn('arguments_json', text)
    .addColumn('approval_id', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('created_by', text, (c) => c.notNull())
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_wall_ms', 'bigint', (c) => c.notNull())
    .addColumn('uses_max', 'bigint')
    .addColumn('used', 'bigint', (c) => c.notNull())
    .addColumn('last_used_ms', 'bigint')
    .addColumn('revoked_ms', 'bigint')
    .addColumn('revoked_by', text)
    .execute()
  await index(
    db,
    'grants_call',
    'grants',
    ['agent', 'capability', 'created_ms'],
    sql`revoked_ms is null`,
  )
  await index(db, 'grants_time', 'grants', ['created_ms', 'id'])
  await db.schema.alterTable('approvals').addColumn('edit', text).execute()
}
