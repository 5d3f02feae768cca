import type { Kysely } from 'kysely'
import { index } from './create-index.ts'
import type { SchemaDialect } from './schema-dialect.ts'

/** Replica of services, as it was last read, and how it is found. */
export async function replicaTables(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  const { text } = dialect
  await db.schema
    .createTable('replica_entries')
    .addColumn('num', dialect.rowNumber, (c) => c.primaryKey())
    .addColumn('service', text, (c) => c.notNull())
    .addColumn('collection', text, (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('sort_ms', 'bigint', (c) => c.notNull())
    .addColumn('until_ms', 'bigint', (c) => c.notNull())
    .addColumn('title', text, (c) => c.notNull())
    .addColumn('sender', text, (c) => c.notNull())
    .addColumn('flags', text, (c) => c.notNull())
    .addColumn('keys_json', text, (c) => c.notNull())
    .addColumn('body_json', text, (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('run', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('replica_entries_key', ['service', 'collection', 'id'])
    .execute()
  await index(db, 'replica_entries_time', 'replica_entries', ['service', 'sort_ms', 'num'])
  await index(db, 'replica_entries_place', 'replica_entries', [
    'service',
    'collection',
    'sort_ms',
    'num',
  ])
  await index(db, 'replica_entries_id', 'replica_entries', ['service', 'id'])

  await db.schema
    .createTable('replica_keys')
    .addColumn('service', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('num', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('replica_keys_pk', ['service', 'key', 'num'])
    .execute()
  await index(db, 'replica_keys_entry', 'replica_keys', ['num'])

  await db.schema
    .createTable('replica_counts')
    .addColumn('service', text, (c) => c.notNull().primaryKey())
    .addColumn('entries', 'bigint', (c) => c.notNull())
    .execute()

  await dialect.searchIndex(db)
}
