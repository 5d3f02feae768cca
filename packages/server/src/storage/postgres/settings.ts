import { GatehouseError } from '@gatehouse/contract'
import { type Kysely, sql } from 'kysely'

const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/** @SECURITY Refuses a server that would forget answered calls; postgres.test.ts. */
export const assertServerSettings = async (db: Kysely<unknown>): Promise<void> => {
  const setting = async (name: string): Promise<string> => {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(
      db,
    )
    return rows[0]?.value ?? ''
  }
  for (const name of durable)
    if ((await setting(name)) === 'off')
      throw new GatehouseError('StorageUnavailable', {
        detail: `PostgreSQL runs with ${name} = off, so a crash would lose answered calls. Turn it on.`,
      })
  const encoding = await setting('server_encoding')
  if (encoding !== 'UTF8')
    throw new GatehouseError('StorageUnavailable', {
      detail: `the database has the encoding ${encoding}; create it with UTF8.`,
    })
}
