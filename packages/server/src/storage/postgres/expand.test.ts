import { startPostgres } from '@gatehouse/testkit'
import { Kysely, Migrator, sql } from 'kysely'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { migrations } from '../sql/migrations.ts'
import { postgresDialect, postgresSchema } from './dialect.ts'
import { openPostgres } from './open.ts'
import { createDatabase, query, type TestDatabase } from './testing.ts'
import { upgradePostgres } from './upgrade.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/**
 * Migrations from before the first release that nodes of the version before could not have lived with. A later one is
 * never added: what a version no longer uses goes with a release after it.
 */
const contracting = ['0014-audit-index', '0015-index-in-files', '0022-limits-in-batches']

type Shape = {
  /** What statements of a program name. */
  readonly names: ReadonlySet<string>
  /** Columns that a statement which does not know them cannot leave out. */
  readonly demanded: ReadonlySet<string>
}

const columnsText = `
  select table_name as t, column_name as c, data_type as type,
         is_nullable = 'NO' and column_default is null and is_identity = 'NO' as demanded
  from information_schema.columns where table_schema = 'public' and table_name not like '%migration%'`
const functionsText = `
  select proname || '('  || pg_get_function_identity_arguments(oid) || ')' as f
  from pg_proc where pronamespace = 'public'::regnamespace`

const shapeOf = async ({ url }: TestDatabase): Promise<Shape> => {
  const [columns, functions] = await query(url, columnsText, functionsText)
  const all = (columns?.rows ?? []) as { t: string; c: string; type: string; demanded: boolean }[]
  const names = [
    ...all.map(({ t, c, type }) => `${t}.${c} ${type}`),
    ...((functions?.rows ?? []) as { f: string }[]).map(({ f }) => f),
  ]
  const demanded = all.filter((column) => column.demanded).map(({ t, c }) => `${t}.${c}`)
  return { names: new Set(names), demanded: new Set(demanded) }
}

const tableOf = (name: string): string => name.split('.')[0] as string

/** Whatever of the schema before would fail a program that knows only that one. */
const breaks = (before: Shape, after: Shape): string[] => {
  const tables = new Set([...before.names].map(tableOf))
  return [
    ...[...before.names].filter((name) => !after.names.has(name)).map((name) => `lost ${name}`),
    ...[...after.demanded]
      .filter((name) => tables.has(tableOf(name)) && !before.demanded.has(name))
      .map((name) => `demands ${name}`),
  ].toSorted()
}

describe.skipIf(missing !== null)(
  `migrations${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('leave what nodes of the version before use, but for those from before the first release', async () => {
      await using database = await createDatabase(serverUrl)
      const pool = new pg.Pool({ connectionString: database.url, max: 1 })
      const db = new Kysely<unknown>({ dialect: postgresDialect(pool) })
      const steps = migrations(postgresSchema)
      const migrator = new Migrator({ db, provider: { getMigrations: async () => steps } })
      const found: Record<string, readonly string[]> = {}
      let before = await shapeOf(database)
      for (const name of Object.keys(steps)) {
        const { error } = await migrator.migrateTo(name)
        expect(error).toBeUndefined()
        const after = await shapeOf(database)
        const broken = breaks(before, after)
        if (broken.length > 0) found[name] = broken
        before = after
      }
      await db.destroy()
      expect(Object.keys(found), JSON.stringify(found, null, 2)).toEqual(contracting)
    })

    test('have an hour for a statement', async () => {
      await using database = await createDatabase(serverUrl)
      const limits: string[] = []
      await upgradePostgres(database.url, {
        '0001-slow': {
          async up(db) {
            const { rows } = await sql<{ limit: string }>`
              select current_setting('statement_timeout') as limit`.execute(db)
            limits.push(...rows.map(({ limit }) => limit))
          },
        },
      })
      expect(limits).toEqual(['1h'])
    })

    test('of a newer program are refused with the version that made them', async () => {
      await using database = await createDatabase(serverUrl)
      await (await openPostgres({ url: database.url }))[Symbol.asyncDispose]()
      await query(
        database.url,
        `insert into schema_migrations values ('9998-notes', '2026')`,
        `insert into nodes values ('n', 'there:/x', '9.1.0', null, 'active', 1, 1, '{}')`,
      )
      await expect(openPostgres({ url: database.url })).rejects.toThrow(
        /newer version of Gatehouse 9\.1\.0 .*9998-notes.*Run Gatehouse 9\.1\.0 or a newer one/,
      )
    })
  },
)
