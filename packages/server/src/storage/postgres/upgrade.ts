import { Kysely } from 'kysely'
import pg from 'pg'
import { migrate } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations.ts'
import { BoundedClient, bounded } from './bounded-client.ts'
import { applySettings, postgresDialect, postgresSchema, types } from './dialect.ts'

/** As long as the migrator waits for another node that upgrades. */
const upgradeMaxMs = 3_600_000

/** The pool waits for the promise, though its types say void. */
const hooks: object = {
  onConnect: async (client: pg.ClientBase) => {
    await applySettings(client)
    await client.query(`set statement_timeout = ${upgradeMaxMs}`)
  },
}

/**
 * Brings the schema up to date, on a connection of its own: a migration of many rows, or the wait for another node's, takes longer
 * than any other statement may. Through a pooler the migrator's lock would stay with a connection that others use.
 */
export const upgradePostgres = async (
  directUrl: string,
  steps = migrations(postgresSchema),
): Promise<void> => {
  const pool = new pg.Pool({
    ...bounded(directUrl),
    query_timeout: upgradeMaxMs,
    Client: BoundedClient,
    max: 1,
    types,
    ...hooks,
  })
  // The statement that runs hears of a lost connection; without a listener the process would end.
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: postgresDialect(pool) })
  try {
    await migrate(db, steps, async () => {})
  } finally {
    await db.destroy()
  }
}
