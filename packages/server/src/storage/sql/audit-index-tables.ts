import { type Kysely, sql } from 'kysely'
import type { SchemaDialect } from './schema-dialect.ts'

/**
 * The audit log moves into files: what was the log becomes an index of it. Entries that were stored until now lie in
 * `audit_copies`, from where the log's files are written at the next start.
 */
export async function auditIndex(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  const { text } = dialect
  await db.schema
    .createTable('audit_copies')
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('audit_copies_pk', ['chain', 'seq'])
    .execute()
  await sql`insert into audit_copies (chain, seq, hash, body) select chain, seq, hash, body from audit`.execute(
    db,
  )
  await db.schema
    .createTable('audit_progress')
    .addColumn('chain', text, (c) => c.notNull().primaryKey())
    .addColumn('next', 'bigint', (c) => c.notNull())
    .addColumn('counted', 'bigint', (c) => c.notNull())
    .execute()
  await sql`insert into audit_progress (chain, next, counted)
    select chain, max(seq) + 1, max(seq) + 1 from audit group by chain`.execute(db)
  await dialect.changeable(db, 'audit')
  for (const column of ['hash', 'body'])
    await db.schema.alterTable('audit').dropColumn(column).execute()
}

/** The index moves beside the log, and the database keeps nothing of an entry but, where nodes share it, a copy. */
export async function indexInFiles(db: Kysely<unknown>): Promise<void> {
  for (const table of ['audit', 'audit_daily', 'audit_folded'])
    await db.schema.dropTable(table).execute()
  await db.schema.alterTable('audit_progress').dropColumn('next').execute()
}
