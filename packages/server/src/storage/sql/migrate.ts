import { GatehouseError } from '@gatehouse/contract'
import { type Kysely, type Migration, Migrator } from 'kysely'
import { describeSystemFailure } from '../../domain/system-failure.ts'

const table = 'schema_migrations'
const lockTable = 'schema_migrations_lock'

/** The migrations a store has had; null for one that has never been used. */
const applied = async (db: Kysely<unknown>): Promise<readonly string[] | null> => {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === table)) return null
  const rows = await (db as Kysely<Record<string, { name: string }>>)
    .selectFrom(table)
    .select('name')
    .orderBy('name')
    .execute()
  return rows.map(({ name }) => name)
}

/** Version of the program that served the store last, where the store can say. */
const servedBy = async (db: Kysely<unknown>): Promise<string> => {
  try {
    const row = await (db as Kysely<{ nodes: { version: string; started_ms: number } }>)
      .selectFrom('nodes')
      .select('version')
      .orderBy('started_ms', 'desc')
      .executeTakeFirst()
    return row ? ` ${row.version}` : ''
  } catch {
    return ''
  }
}

/**
 * Brings the schema up to date, all pending migrations in one transaction. `copyFirst` runs before a
 * store in use is changed. Refuses a store that a newer program has changed.
 */
export const migrate = async <T>(
  db: Kysely<T>,
  migrations: Record<string, Migration>,
  copyFirst: (migration: string) => Promise<void>,
): Promise<void> => {
  const known = Object.keys(migrations).toSorted()
  const had = await applied(db as Kysely<unknown>)
  const newer = had?.filter((name) => !known.includes(name)).at(-1)
  // @SECURITY An older program would read newer rows wrongly; sqlite.test.ts.
  if (newer !== undefined) {
    const needed = await servedBy(db as Kysely<unknown>)
    throw new GatehouseError('StorageUnavailable', {
      detail: `a newer version of Gatehouse${needed} has upgraded it (schema ${newer}); this one knows schemas up to ${known.at(-1)}. Run ${needed === '' ? 'that version' : `Gatehouse${needed}`} or a newer one, or restore the copy made before the upgrade.`,
    })
  }
  const pending = known.filter((name) => !had?.includes(name))
  const target = pending.at(-1)
  if (target === undefined) return
  if (had && had.length > 0) await copyFirst(target)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: table,
    migrationLockTableName: lockTable,
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error === undefined) return
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName ?? target
  throw new GatehouseError(
    'StorageUnavailable',
    {
      detail: `migration ${failed} failed and was undone: ${error instanceof GatehouseError ? error.message : describeSystemFailure(error)}`,
    },
    { cause: error },
  )
}
