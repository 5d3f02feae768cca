import { type Kysely, sql } from 'kysely'
import { index } from './create-index.ts'
import type { SchemaDialect } from './schema-dialect.ts'

/** Schedules and jobs, and messages between agents. */
export async function timeAndMessages(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await jobTables(db, dialect)
  await messageTables(db, dialect)
  await wakeTable(db, dialect)
}

async function jobTables(db: Kysely<unknown>, { text }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('jobs')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('payload_json', text, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('due_ms', 'bigint', (c) => c.notNull())
    .addColumn('attempts', 'bigint', (c) => c.notNull())
    .addColumn('attempts_max', 'bigint', (c) => c.notNull())
    .addColumn('owner', text)
    .addColumn('lease_ms', 'bigint')
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('started_ms', 'bigint')
    .addColumn('finished_ms', 'bigint')
    .addColumn('outcome_json', text)
    .execute()
  await index(db, 'jobs_due', 'jobs', ['due_ms', 'id'], sql`state = 'waiting'`)
  await index(db, 'jobs_running', 'jobs', ['owner'], sql`state = 'running'`)
  await index(db, 'jobs_subject', 'jobs', ['subject', 'due_ms', 'id'])
  await index(db, 'jobs_ended', 'jobs', ['finished_ms'], sql`finished_ms is not null`)

  await db.schema
    .createTable('schedules')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('arguments_json', text, (c) => c.notNull())
    .addColumn('cron', text)
    .addColumn('time_zone', text, (c) => c.notNull())
    .addColumn('description', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('next_ms', 'bigint')
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('ended_ms', 'bigint')
    .execute()
  await index(db, 'schedules_agent', 'schedules', ['agent', 'status', 'created_ms', 'id'])
  await index(db, 'schedules_time', 'schedules', ['created_ms', 'id'])
  await index(db, 'schedules_ended', 'schedules', ['ended_ms'], sql`ended_ms is not null`)
}

async function messageTables(db: Kysely<unknown>, { text, byKey }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('messages')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('sender', text, (c) => c.notNull())
    .addColumn('channel', text)
    .addColumn('priority', 'smallint', (c) => c.notNull())
    .addColumn('body_json', text, (c) => c.notNull())
    .addColumn('sent_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('deliveries')
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('rank', 'smallint', (c) => c.notNull())
    .addColumn('sent_ms', 'bigint', (c) => c.notNull())
    .addColumn('message_id', text, (c) => c.notNull())
    .addColumn('channel', text)
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('deliveries_pk', ['agent', 'rank', 'sent_ms', 'message_id'])
    .modifyEnd(byKey)
    .execute()
  await index(db, 'deliveries_message', 'deliveries', ['message_id', 'agent'])
  await index(db, 'deliveries_expiry', 'deliveries', ['expires_ms'])

  await db.schema
    .createTable('subscriptions')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('channel', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('subscriptions_once', ['agent', 'channel'])
    .execute()
  await index(db, 'subscriptions_channel', 'subscriptions', ['channel', 'agent'])
}

async function wakeTable(db: Kysely<unknown>, { text }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('wakes')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('reason', text)
    .addColumn('data_json', text)
    .addColumn('count', 'bigint', (c) => c.notNull())
    .addColumn('woken_ms', 'bigint', (c) => c.notNull())
    .addColumn('told_ms', 'bigint')
    .addColumn('seen_ms', 'bigint')
    .execute()
  await index(db, 'wakes_agent', 'wakes', ['agent', 'woken_ms', 'id'])
  await index(db, 'wakes_open', 'wakes', ['woken_ms', 'id'], sql`seen_ms is null`)
}
