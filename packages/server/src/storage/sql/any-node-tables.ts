import { type Kysely, type RawBuilder, sql } from 'kysely'
import { index } from './create-index.ts'

/** Facts by which a client may go from node to node: when its session was used last, and events of other nodes. */
export async function anyNodeTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('used_ms', 'bigint').execute()
  await index(db, 'sessions_ended', 'sessions', ['ended_ms'], sql`ended_ms is not null`)
  await db.schema
    .createTable('shared_events')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('node', text, (c) => c.notNull())
    .addColumn('at_ms', 'bigint', (c) => c.notNull())
    .addColumn('event', text, (c) => c.notNull())
    .execute()
  await index(db, 'shared_events_time', 'shared_events', ['at_ms', 'id'])
}
