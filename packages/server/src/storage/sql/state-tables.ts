import { type Kysely, type RawBuilder, sql } from 'kysely'

/** Values of agents, what they were before, and how much each area holds; and alerts. */
export async function stateTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('state')
    .addColumn('area', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('value_json', text)
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('updated_ms', 'bigint', (c) => c.notNull())
    .addColumn('updated_by', text, (c) => c.notNull())
    .addColumn('expires_ms', 'bigint')
    .addPrimaryKeyConstraint('state_pk', ['area', 'key'])
    .execute()
  await sql`create index state_expiry on state (expires_ms)
    where expires_ms is not null and value_json is not null`.execute(db)
  await sql`create index state_deleted on state (updated_ms) where value_json is null`.execute(db)

  await db.schema
    .createTable('state_past')
    .addColumn('area', text, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('value_json', text)
    .addColumn('deleted', 'smallint', (c) => c.notNull())
    .addColumn('updated_ms', 'bigint', (c) => c.notNull())
    .addColumn('updated_by', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('state_past_pk', ['area', 'key', 'version'])
    .execute()

  await db.schema
    .createTable('state_areas')
    .addColumn('area', text, (c) => c.notNull().primaryKey())
    .addColumn('keys', 'bigint', (c) => c.notNull())
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .execute()

  await alertTable(db, text)
}

async function alertTable(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('alerts')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('source', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('severity', text, (c) => c.notNull())
    .addColumn('message', text, (c) => c.notNull())
    .addColumn('context_json', text, (c) => c.notNull())
    .addColumn('dedup_key', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('raised_ms', 'bigint', (c) => c.notNull())
    .addColumn('count', 'bigint', (c) => c.notNull())
    .addColumn('acknowledged_ms', 'bigint')
    .addColumn('acknowledged_by', text)
    .execute()
  await sql`create index alerts_time on alerts (created_ms, id)`.execute(db)
  await sql`create index alerts_status on alerts (status, created_ms, id)`.execute(db)
  await sql`create index alerts_source on alerts (source, created_ms, id)`.execute(db)
  await sql`create unique index alerts_open on alerts (dedup_key) where status = 'open'`.execute(db)
}
