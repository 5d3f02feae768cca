import { type Kysely, type RawBuilder, sql } from 'kysely'

export async function index(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly string[],
  where?: RawBuilder<boolean>,
): Promise<void> {
  const on = columns.map((column) => sql.ref(column))
  const only = where ? sql` where ${where}` : sql``
  await sql`create index ${sql.ref(name)} on ${sql.table(table)} (${sql.join(on)})${only}`.execute(
    db,
  )
}
