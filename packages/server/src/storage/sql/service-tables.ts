import { type Kysely, sql } from 'kysely'
import { index } from './create-index.ts'
import type { SchemaDialect } from './schema-dialect.ts'

/** Services, the writes that wait for their time, and what stood before them. */
export async function serviceTables(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await serviceTable(db, dialect)
  await writeTables(db, dialect)
  await rollbackTable(db, dialect)
}

async function serviceTable(db: Kysely<unknown>, { text }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('services')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('settings_json', text, (c) => c.notNull())
    .addColumn('secrets_json', text, (c) => c.notNull())
    .addColumn('agents_json', text, (c) => c.notNull())
    .addColumn('connected_ms', 'bigint', (c) => c.notNull())
    .addColumn('generation', 'bigint', (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('cursor', text)
    .addColumn('syncs', 'bigint', (c) => c.notNull())
    .addColumn('full', 'smallint', (c) => c.notNull())
    .addColumn('last_sync_ms', 'bigint')
    .addColumn('next_sync_ms', 'bigint', (c) => c.notNull())
    .addColumn('failing_since_ms', 'bigint')
    .addColumn('failures', 'bigint', (c) => c.notNull())
    .addColumn('reason', text)
    .addColumn('progress_json', text)
    .addColumn('lease_owner', text)
    .addColumn('lease_ms', 'bigint')
    .execute()
}

async function writeTables(db: Kysely<unknown>, { text, bytes }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('writes')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('service', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('session_id', text)
    .addColumn('request_id', text, (c) => c.notNull())
    .addColumn('arguments_json', text, (c) => c.notNull())
    .addColumn('files_json', text, (c) => c.notNull())
    .addColumn('buffered_ms', 'bigint', (c) => c.notNull())
    .addColumn('due_ms', 'bigint', (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('phase', text)
    .addColumn('attempts', 'bigint', (c) => c.notNull())
    .addColumn('proofs', 'bigint', (c) => c.notNull())
    .addColumn('repeatable', 'smallint', (c) => c.notNull())
    .addColumn('owner', text)
    .addColumn('lease_ms', 'bigint')
    .addColumn('finished_ms', 'bigint')
    .addColumn('result_json', text)
    .addColumn('error_json', text)
    .addColumn('dead', 'smallint', (c) => c.notNull())
    .addColumn('ended_by', text)
    .execute()
  await index(
    db,
    'writes_pending',
    'writes',
    ['due_ms', 'id'],
    sql`status in ('buffered', 'executing')`,
  )
  await index(db, 'writes_dead', 'writes', ['service', 'buffered_ms'], sql`dead = 1`)
  await index(db, 'writes_agent', 'writes', ['agent', 'buffered_ms', 'id'])
  await index(db, 'writes_time', 'writes', ['buffered_ms', 'id'])
  await index(db, 'writes_ended', 'writes', ['finished_ms'], sql`finished_ms is not null`)

  await db.schema
    .createTable('write_files')
    .addColumn('write_id', text, (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('content_type', text, (c) => c.notNull())
    .addColumn('bytes', bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('write_files_pk', ['write_id', 'position'])
    .execute()
  await db.schema
    .createTable('write_captures')
    .addColumn('write_id', text, (c) => c.notNull().primaryKey())
    .addColumn('capture_json', text, (c) => c.notNull())
    .execute()
}

async function rollbackTable(db: Kysely<unknown>, { text }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('rollbacks')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('write_id', text, (c) => c.notNull().unique())
    .addColumn('service', text, (c) => c.notNull())
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .addColumn('owner', text)
    .addColumn('lease_ms', 'bigint')
    .addColumn('error_json', text)
    .addColumn('differences_json', text, (c) => c.notNull())
    .addColumn('rolled_back_ms', 'bigint')
    .addColumn('rolled_back_by', text)
    .execute()
  await index(db, 'rollbacks_time', 'rollbacks', ['created_ms', 'id'])
  await index(db, 'rollbacks_ready', 'rollbacks', ['service', 'expires_ms'], sql`status = 'ready'`)
}
