import { Kysely } from 'kysely'
import type { AuditIndex } from '../../ports/audit-rows.ts'
import { sqlAuditIndex } from '../sql/audit-index.ts'
import type { Tables } from '../sql/tables.ts'
import { SqliteConnection } from './adapter.ts'
import { readerDialect } from './dialect.ts'
import { settleReader } from './settings.ts'

/** Opens the index of the audit log for reading, beside the service that writes them. */
export const openSqliteIndex = (
  file: string,
): Pick<AuditIndex, 'range' | 'ends' | 'copies'> & AsyncDisposable => {
  const connection = new SqliteConnection(file, { readOnly: true })
  settleReader(connection)
  const read = new Kysely<Tables>({ dialect: readerDialect(connection) })
  return {
    ...sqlAuditIndex({ read, write: read }),
    async [Symbol.asyncDispose]() {
      connection[Symbol.dispose]()
    },
  }
}
