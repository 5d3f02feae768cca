import { Kysely } from 'kysely'
import pg from 'pg'
import type { AuditCopies } from '../../ports/audit-rows.ts'
import { sqlAuditCopies } from '../sql/audit-copies.ts'
import type { Tables } from '../sql/tables.ts'
import { BoundedClient, bounded } from './bounded-client.ts'
import { applySettings, postgresDialect, types } from './dialect.ts'

/** The pool waits for the promise, though its types say void. */
const hooks: object = {
  onConnect: async (client: pg.ClientBase) => {
    await applySettings(client)
    await client.query('set session characteristics as transaction read only')
  },
}

/** Opens the copies of the audit log for reading, on one connection of its own. */
export const openPostgresCopies = (url: string): Pick<AuditCopies, 'read'> & AsyncDisposable => {
  const pool = new pg.Pool({ ...bounded(url), Client: BoundedClient, max: 1, types, ...hooks })
  // A connection that breaks is told to the query that runs; without a listener it ends the thread.
  pool.on('error', () => {})
  const read = new Kysely<Tables>({ dialect: postgresDialect(pool) })
  return {
    ...sqlAuditCopies({ read, write: read }),
    [Symbol.asyncDispose]: () => read.destroy(),
  }
}
