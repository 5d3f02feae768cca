import { type Kysely, type RawBuilder, sql } from 'kysely'
import { index } from './create-index.ts'

/** Programs in the background, so that an agent learns what became of them whatever happened. */
export async function processTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('processes')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('node', text, (c) => c.notNull())
    .addColumn('command', text, (c) => c.notNull())
    .addColumn('args_json', text, (c) => c.notNull())
    .addColumn('working_directory', text, (c) => c.notNull())
    .addColumn('network_json', text, (c) => c.notNull())
    .addColumn('sandbox', text, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('exit_code', 'bigint')
    .addColumn('signal', text)
    .addColumn('detail', text)
    .addColumn('stdout_bytes', 'bigint', (c) => c.notNull())
    .addColumn('stderr_bytes', 'bigint', (c) => c.notNull())
    .addColumn('cpu_ms', 'bigint')
    .addColumn('memory_bytes_max', 'bigint')
    .addColumn('started_ms', 'bigint', (c) => c.notNull())
    .addColumn('ended_ms', 'bigint')
    .execute()
  await index(db, 'processes_agent', 'processes', ['agent', 'started_ms', 'id'])
  await index(db, 'processes_time', 'processes', ['started_ms', 'id'])
  await index(db, 'processes_running', 'processes', ['node'], sql`state = 'running'`)
  await index(db, 'processes_ended', 'processes', ['node', 'ended_ms'], sql`ended_ms is not null`)
}
