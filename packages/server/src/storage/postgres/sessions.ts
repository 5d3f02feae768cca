import { GatehouseError } from '@gatehouse/contract'
import type { DedicatedClient } from './dedicated-client.ts'

const backendOf = (client: DedicatedClient): Promise<number> =>
  client.run(async (connection) => {
    const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid ?? 0
  })

/**
 * Refuses two connections that take turns on one process of the database, as a pooler in transaction mode has it.
 * @SECURITY There the setting that uses of limits need not be synced would be that of commits that have to be, and a
 * crash would lose answered calls; pooler.test.ts.
 */
export const assertSessions = async (
  one: DedicatedClient,
  other: DedicatedClient,
): Promise<void> => {
  if ((await backendOf(one)) !== (await backendOf(other))) return
  throw new GatehouseError(
    'StorageUnavailable',
    { detail: 'a pooler in transaction mode stands before PostgreSQL.' },
    {
      recovery: [
        {
          action: 'database_direct_url',
          description: 'Set it to the address of the database itself; database_url may stay.',
        },
      ],
    },
  )
}
