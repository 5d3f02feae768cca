import { describeStorage, startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, describe } from 'vitest'
import type { Storage } from '../../ports/storage.ts'
import { openPostgres } from './open.ts'
import { createDatabase, type TestDatabase } from './testing.ts'

const server = await startPostgres({ autovacuum: 'off' })
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''

afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/** Rows that no query of a test chooses: what is evaluated on them all the same fails there. */
const otherValues = ['not a number', '{"not": "a number"}', '1'.repeat(30), '']

/** Everything gone but the schema and rows of `meta` that are nobody's. A new database takes ten times as long. */
const emptied = `
  set session_replication_role = replica;
  truncate audit;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public'
      and tablename not in ('audit', 'service_clock') and tablename not like 'schema_migrations%'
    loop execute format('delete from %I', name); end loop;
  end $$;
  update service_clock set ms = 0;
  insert into meta ${otherValues.map((value, i) => `${i ? 'union all ' : ''}select 'other ${i}', '${value}'`).join(' ')};
  set session_replication_role = origin`

type Call = (...given: unknown[]) => unknown

/** The same store, where the first call of each method waits for `before`; inside transactions likewise. */
const before = <T extends object>(target: T, seen: Set<string>, path: string, act: Call): T =>
  new Proxy(target, {
    get(inner, key) {
      const value: unknown = Reflect.get(inner, key)
      const name = `${path}.${String(key)}`
      if (typeof value === 'function')
        return async (...given: unknown[]) => {
          if (!seen.has(name)) await act()
          seen.add(name)
          return (value as Call).apply(inner, given)
        }
      return value !== null && typeof value === 'object' ? before(value, seen, name, act) : value
    },
  })

/** The planner has statistics of what was stored before each kind of call. In one commit, not one for each table. */
const analyzed = async (storage: Storage, client: pg.Client): Promise<Storage> => {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(format('%I', tablename), ', ') as names from pg_tables where schemaname = 'public'`,
  )
  return before(storage, new Set(), '', () =>
    client.query(`begin; analyze ${rows[0]?.names}; commit`),
  )
}

/**
 * What a planner may choose once it has statistics, or on another machine. No plan may evaluate a cast or
 * a function that fails on rows that the query did not choose, and none may change an answer.
 */
const without = (...kinds: string[]) => kinds.map((kind) => `-c enable_${kind}=off`).join(' ')

const plans = {
  'by scans': `${without('indexscan', 'indexonlyscan', 'bitmapscan')} -c plan_cache_mode=force_generic_plan`,
  'by indexes': `${without('seqscan', 'nestloop', 'sort')} -c plan_cache_mode=force_custom_plan`,
}

const migrated = async (): Promise<TestDatabase> => {
  const database = await createDatabase(serverUrl)
  const storage = await openPostgres({ url: database.url })
  await storage[Symbol.asyncDispose]()
  return database
}

describe.skipIf(missing !== null)(
  `PostgreSQL with statistics${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    for (const [name, options] of Object.entries(plans)) {
      let database: Promise<TestDatabase> | undefined
      describeStorage(`postgres, ${name}`, async () => {
        database ??= migrated()
        const { url } = await database
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        await client.query('set synchronous_commit = off')
        await client.query(emptied)
        const planned = new URL(url)
        planned.searchParams.set('options', options)
        const openOne = () => openPostgres({ url: planned.href })
        let storage = await openOne()
        return {
          storage: await analyzed(storage, client),
          async reopen() {
            await storage[Symbol.asyncDispose]()
            storage = await openOne()
            return analyzed(storage, client)
          },
          async [Symbol.asyncDispose]() {
            await storage[Symbol.asyncDispose]()
            await client.end()
          },
        }
      })
    }
  },
)
