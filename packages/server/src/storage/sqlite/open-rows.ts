import { Kysely } from 'kysely'
import type { AuditRows } from '../../ports/audit-rows.ts'
import { sqlAuditRows } from '../sql/audit-rows.ts'
import type { Tables } from '../sql/tables.ts'
import { SqliteConnection } from './adapter.ts'
import { readerDialect } from './dialect.ts'
import { settleReader } from './settings.ts'

/** Opens the stored rows of the audit log for reading, beside the service that writes them. */
export const openSqliteRows = (file: string): Pick<AuditRows, 'range'> & AsyncDisposable => {
  const connection = new SqliteConnection(file, { readOnly: true })
  settleReader(connection)
  const read = new Kysely<Tables>({ dialect: readerDialect(connection) })
  return {
    range: sqlAuditRows({ read, write: read }).range,
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]()
    },
  }
}
