import type { Kysely, RawBuilder } from 'kysely'

/** MCP servers behind the gate, and the definitions of their tools: those accepted, and those seen last. */
export async function upstreamTables(
  db: Kysely<unknown>,
  text: RawBuilder<unknown>,
): Promise<void> {
  await db.schema
    .createTable('upstreams')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('config_json', text, (c) => c.notNull())
    .addColumn('accepted_json', text, (c) => c.notNull())
    .addColumn('seen_json', text)
    .addColumn('change_number', 'bigint', (c) => c.notNull())
    .addColumn('added_ms', 'bigint', (c) => c.notNull())
    .addColumn('seen_ms', 'bigint')
    .execute()
}
