import { describeStorage, startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommitGroup, CopiedEntry } from '../../ports/audit-rows.ts'
import type { LimitKey, LimitStamp } from '../../ports/limits.ts'
import type { SharedEvent } from '../../ports/shared-events.ts'
import type { Storage } from '../../ports/storage.ts'
import { encodeText } from '../sql/text.ts'
import { openPostgres } from './open.ts'
import { createDatabase, query } from './testing.ts'
import {
  castColumns,
  collectStatements,
  poisonTables,
  replayStatements,
  type Statement,
} from './testing-plans.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const statements = collectStatements()
afterAll(() => statements[Symbol.dispose]())

const inDatabase = (options = '') => createDatabase(serverUrl, options)

const row = (seq: number): CopiedEntry => ({ seq, hash: 'f'.repeat(64), body: `{"seq":${seq}}` })

const group = (
  rows: readonly CopiedEntry[],
  agents: readonly string[] = [],
  chain = 'main',
): CommitGroup => ({
  chain,
  rows,
  stamps: [],
  agentCounts: new Map(agents.map((name) => [name, 1])),
  sessionCounts: new Map(),
  clockMs: 0,
})

const agent = (name: string) =>
  ({
    name: name as never,
    purpose: '',
    status: 'active',
    approvals: 'pending',
    workspace: '/w',
    site: null,
    mounts: [],
    tools: [],
    limits: [],
    created_ms: 0,
    last_connected_ms: null,
    total_invocations: 0,
    token_hash: name,
    token_ms: 0,
    previous_token_hash: null,
    previous_until_ms: null,
    generation: 1,
  }) as const

describe.skipIf(missing !== null)(
  `PostgreSQL${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    describeStorage('postgres', async () => {
      const database = await inDatabase()
      let storage = await openPostgres({ url: database.url })
      return {
        storage,
        async reopen() {
          await storage[Symbol.asyncDispose]()
          storage = await openPostgres({ url: database.url })
          return storage
        },
        async [Symbol.asyncDispose]() {
          await storage[Symbol.asyncDispose]()
          await database[Symbol.asyncDispose]()
        },
      }
    })

    describe('two nodes', () => {
      test('find an event whose transaction ends after those that began later', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        const eventOf = (id: string): SharedEvent => ({
          event: { id, type: 'wake', agent: 'ada', timestamp: '2026-01-01T00:00:00Z', data: {} },
          node: 'one',
          at_ms: 1_000,
        })
        const look = async (since: number) => {
          const horizon = await two.sharedEvents.horizon()
          const place = { stored_by: since, at_ms: 0, id: '' }
          const found = await two.sharedEvents.listAfter(place, 'two', 9)
          return { horizon, ids: found.map(({ event }) => event.id) }
        }
        const late = new pg.Client({ connectionString: database.url })
        await late.connect()
        try {
          await late.query('begin')
          await late.query(
            `insert into shared_events (id, node, at_ms, event) values ('evt-1', 'one', 1000, '${JSON.stringify(eventOf('evt-1').event)}')`,
          )
          await one.sharedEvents.add([eventOf('evt-2')])
          const before = await look(0)
          expect(before.ids).toEqual(['evt-2'])
          await one.sharedEvents.add([eventOf('evt-3')])
          expect((await look(before.horizon)).ids).toEqual(['evt-2', 'evt-3'])
          await late.query('commit')
          const after = await look(before.horizon)
          expect(after.ids).toEqual(['evt-1', 'evt-2', 'evt-3'])
          await one.sharedEvents.add([eventOf('evt-4')])
          // Other databases of the server have transactions, too, and may hold the horizon back for a moment.
          await expect.poll(async () => (await look((await look(0)).horizon)).ids).toEqual([])
        } finally {
          await late.end()
        }
      })

      test('hold one limit together', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        const keys: LimitKey[] = [
          { key: 'a\u0000x', limit: 10, window_ms: 1_000 },
          { key: 'a\u0000y', limit: 30, window_ms: 1_000 },
        ]
        const verdicts = await Promise.all(
          Array.from({ length: 60 }, async (_, i) =>
            // In both orders, which would deadlock if each took its locks as they come.
            (i % 2 ? one : two).limits.take(i % 3 ? keys : keys.toReversed(), 1_000 + i),
          ),
        )
        expect(verdicts.filter(({ kind }) => kind === 'allowed')).toHaveLength(10)
        expect(await two.limits.used(keys[1] as LimitKey, 1_060)).toBe(10)
      })

      test('never let more than a limit into any window, three of them racing for keys in every order', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        await using three = await openPostgres({ url: database.url })
        const nodes = [one, two, three]
        const keys = [7, 3, 12, 5].map(
          (limit, at): LimitKey => ({
            key: `bot\u0000${at}`,
            limit,
            window_ms: 40 + at * 30,
          }),
        )
        const stamps: LimitStamp[] = []
        let refusals = 0
        const race = (node: Storage, seed: number, round: number) =>
          Array.from({ length: 6 }, async (_, i) => {
            const at = seed * 7 + round * 3 + i
            const chosen = [keys[at % 4], keys[(at * 5 + 1) % 4], keys[at % 3]] as LimitKey[]
            // Clocks of nodes are a little apart.
            const verdict = await node.limits.take(chosen, 10_000 + round * 9 + seed * 4)
            if (verdict.kind === 'allowed') stamps.push(...verdict.stamps)
            else refusals += 1
          })
        // Round by round: a node that is far ahead leaves the others few windows to race in.
        for (let round = 0; round < 25; round += 1)
          await Promise.all(nodes.flatMap((node, seed) => race(node, seed, round)))
        for (const { key, limit, window_ms } of keys) {
          const moments = stamps.filter((stamp) => stamp.key === key).map(({ at_ms }) => at_ms)
          for (const end of moments)
            expect(
              moments.filter((at) => at > end - window_ms && at <= end).length,
            ).toBeLessThanOrEqual(limit)
          // Each use that was answered is stored, and no other: what is pruned is older than a minute.
          const [stored] = await query(
            database.url,
            `select sum(uses)::int as uses from limit_stamps where key = '${encodeText(key)}'`,
          )
          expect(stored?.rows[0]).toEqual({ uses: moments.length })
        }
        expect(refusals).toBeGreaterThan(0)
        // Windows moved on.
        expect(stamps.length).toBeGreaterThan(keys.reduce((sum, { limit }) => sum + limit, 0))
      })

      test('say when the next use passes, to the millisecond, whichever of them took the others', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        const key: LimitKey = { key: 'bot\u0000exact', limit: 2, window_ms: 500 }
        const taken = (node: Storage, at: number) => node.limits.take([key], at)
        await taken(one, 1_000)
        await taken(two, 1_100)
        const turn = await Promise.all([taken(one, 1_150), taken(one, 1_170), taken(two, 1_200)])
        expect(
          turn.map((verdict) => ('retry_after_ms' in verdict ? verdict.retry_after_ms : 0)),
        ).toEqual([350, 330, 300])
        expect(await taken(two, 1_499)).toMatchObject({ kind: 'limited', retry_after_ms: 1 })
        expect(await taken(one, 1_500)).toMatchObject({ kind: 'allowed' })
      })

      test('behind a turn of many, what several turns of the loop bring is taken at once', async () => {
        await using database = await inDatabase()
        await using node = await openPostgres({ url: database.url })
        const key: LimitKey = { key: 'bot\u0000gathered', limit: 100, window_ms: 60_000 }
        const take = async () => node.limits.take([key], 1_000)
        await take()
        const many = Array.from({ length: 8 }, take)
        await Promise.all(many)
        const later: Promise<unknown>[] = []
        for (let turn = 0; turn < 4; turn += 1) {
          later.push(take(), take())
          await new Promise<void>((resolve) => void setImmediate(resolve))
        }
        await Promise.all(later)
        const [rows] = await query(database.url, 'select uses from limit_stamps order by n')
        expect(rows?.rows).toEqual([{ uses: '1' }, { uses: '8' }, { uses: '8' }])
      })

      test('forget keys and stamps that nobody needs any more, and none that somebody does', async () => {
        await using database = await inDatabase()
        await using node = await openPostgres({ url: database.url })
        const old: LimitKey = { key: 'bot\u0000old', limit: 2, window_ms: 1_000 }
        const kept: LimitKey = { key: 'bot\u0000kept', limit: 2, window_ms: 10_000_000 }
        await node.limits.take([old, kept], 1_000)
        await node.limits.take([kept], 1_000_000)
        // What nobody needs goes after the use is answered.
        const left = async () => (await query(database.url, 'select key, n from limit_keys'))[0]
        await expect
          .poll(async () => (await left())?.rows)
          .toEqual([{ key: encodeText(kept.key), n: '2' }])
        expect(await node.limits.take([kept], 1_000_001)).toMatchObject({ kind: 'limited' })
        expect(await node.limits.take([old], 1_000_001)).toMatchObject({ kind: 'allowed' })
      })

      test('have stored a use on the disk before its call is answered, though it alone is not synced', async () => {
        await using database = await inDatabase()
        await using node = await openPostgres({ url: database.url, syncsLimits: false })
        const client = new pg.Client({ connectionString: database.url })
        await client.connect()
        await node.limits.take([{ key: 'bot\u0000synced', limit: 9, window_ms: 60_000 }], 1_000)
        const [took] = (await client.query('select pg_current_wal_insert_lsn() as lsn')).rows
        await node.record(group([row(0)]))
        const [flushed] = (
          await client.query('select pg_current_wal_flush_lsn() >= $1::pg_lsn as all', [took.lsn])
        ).rows
        expect(flushed).toEqual({ all: true })
        await client.end()
      })

      test('hear what another changed once it is committed, and not what they changed themselves', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        const heard: string[] = []
        for (const kind of ['agents', 'jobs', 'audit'] as const) {
          two.onForeignChange(kind, () => heard.push(`two ${kind}`))
          one.onForeignChange(kind, () => heard.push(`one ${kind}`))
        }
        await expect(
          one.transaction(async (tx) => {
            await tx.agents.insert(agent('undone'))
            throw new Error('undo')
          }),
        ).rejects.toThrow('undo')
        let within: readonly string[] | null = null
        await one.transaction(async (tx) => {
          await tx.agents.insert(agent('bot'))
          within = [...heard]
        })
        await expect.poll(() => heard).toEqual(['two agents'])
        expect(within).toEqual([])
        await one.record(group([row(0)]))
        await expect.poll(() => heard).toEqual(['two agents', 'two audit'])
        await two.agents.list()
        await two.agents.connected('bot', 1)
        await expect.poll(() => heard).toEqual(['two agents', 'two audit', 'one agents'])
      })

      test('look for everything after the connection that tells them was lost', async () => {
        await using database = await inDatabase()
        await using node = await openPostgres({ url: database.url })
        let heard = 0
        using listening = node.onForeignChange('jobs', () => (heard += 1))
        await query(
          database.url,
          `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`,
        )
        await expect.poll(() => heard).toBe(1)
        listening[Symbol.dispose]()
      })

      test('open a new database at once', async () => {
        await using database = await inDatabase()
        const nodes = await Promise.all([1, 2, 3].map(() => openPostgres({ url: database.url })))
        await nodes[0]?.meta.set('k', 'v')
        expect(await nodes[2]?.meta.get('k')).toBe('v')
        for (const node of nodes) await node[Symbol.asyncDispose]()
      })

      test('count calls of the same agents at once and lose none', async () => {
        await using database = await inDatabase()
        await using one = await openPostgres({ url: database.url })
        await using two = await openPostgres({ url: database.url })
        const names = ['a', 'b', 'c', 'd']
        for (const name of names) await one.agents.insert(agent(name))
        await Promise.all(
          Array.from({ length: 50 }, async (_, i) => {
            await one.record(group([row(i)], names, 'one'))
            await two.record(group([row(i)], names.toReversed(), 'two'))
          }),
        )
        for (const { total_invocations } of await two.agents.list())
          expect(total_invocations).toBe(100)
        expect(await one.copies.ends()).toEqual([
          { chain: 'one', next: 50 },
          { chain: 'two', next: 50 },
        ])
      })
    })

    describe('a connection that breaks', () => {
      test('is made anew, and entries go on', async () => {
        await using database = await inDatabase()
        await using storage = await openPostgres({ url: database.url })
        await storage.record(group([row(0)]))
        const name = new URL(database.url).pathname.slice(1)
        await query(
          serverUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        )
        const commit = async () => {
          await storage.record(group([row(await storage.recorded('main'))]))
          return 'committed'
        }
        const failure = (error: unknown) =>
          expect(error).toMatchObject({ type: 'StorageUnavailable' })
        await expect.poll(() => commit().catch(failure)).toBe('committed')
        expect(await storage.recorded('main')).toBe(2)
      })
    })

    describe('the copies of entries in PostgreSQL', () => {
      test.each([
        ['an edit', `update audit_copies set body = '{}'`],
        ['one that is gone', 'delete from audit_copies'],
        ['a rewrite of the table', 'vacuum full audit_copies'],
      ])('shows %s as a foreign change', async (_, statement) => {
        await using database = await inDatabase()
        await using storage = await openPostgres({ url: database.url })
        await storage.record(group([row(0)]))
        expect(await storage.copies.takeForeign()).toBe(false)
        // The end of a connection hands in its counts.
        await query(database.url, ...statement.split('; '))
        await expect.poll(() => storage.copies.takeForeign()).toBe(true)
        expect(await storage.copies.takeForeign()).toBe(false)
      })

      test('are removed, and their ends found, without going over those that were removed before', async () => {
        await using database = await inDatabase()
        const storage = await openPostgres({ url: database.url })
        const copies = 100_000
        await query(
          database.url,
          `insert into audit_copies select 'main', seq, 'h', '{}' from generate_series(0, ${copies}) as seq`,
          `insert into audit_copies values ('forged', 9223372036854775807, 'h', '{}')`,
          'vacuum analyze audit_copies',
        )
        // What a reader still sees, the database does not clean up: as in a long backup, or before its next round.
        const reader = new pg.Client(database.url)
        await reader.connect()
        await reader.query('begin isolation level repeatable read')
        await reader.query('select from audit_copies limit 1')
        const removal = { chain: 'main', record: '{}', signature: 's', public_key: 'k' }
        await storage.copies.drop('forged')
        await storage.copies.removeBefore(copies, removal)
        expect(await storage.copies.ends()).toEqual([{ chain: 'main', next: copies + 1 }])
        // The end of a connection hands in its counts.
        await storage[Symbol.asyncDispose]()
        await reader.end()
        const count = async (text: string) => {
          const [found] = await query(database.url, text)
          return Number(found?.rows[0]?.count)
        }
        const removed = `select n_tup_del as count from pg_stat_user_tables where relname = 'audit_copies'`
        await expect.poll(() => count(removed)).toBe(copies + 1)
        const visited = `select idx_tup_read as count from pg_stat_user_indexes where indexrelname = 'audit_copies_pk'`
        expect(await count(visited)).toBeLessThan(copies * 1.1)
      })
    })

    describe('a server', () => {
      test('is refused by name when it would forget answered calls', async () => {
        for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
          const careless = await startPostgres({ [name]: 'off' })
          if ('missing' in careless) throw new Error(careless.missing)
          try {
            await expect(openPostgres({ url: careless.url })).rejects.toMatchObject({
              type: 'StorageUnavailable',
              message: expect.stringContaining(`${name} = off`) as string,
            })
          } finally {
            await careless.stop()
          }
        }
      })

      test('is refused when its database is not in UTF-8', async () => {
        await using database = await inDatabase(`encoding 'SQL_ASCII' template template0`)
        await expect(openPostgres({ url: database.url })).rejects.toMatchObject({
          message: expect.stringContaining('SQL_ASCII') as string,
        })
      })

      test('that is not there is said to be unusable', async () => {
        await expect(openPostgres({ url: 'postgres://127.0.0.1:1/none' })).rejects.toMatchObject({
          type: 'StorageUnavailable',
        })
      })
    })
  },
)

const without = {
  'by scans': ['indexscan', 'indexonlyscan', 'bitmapscan', 'hashjoin', 'mergejoin'],
  'by merges': ['seqscan', 'nestloop', 'hashjoin', 'sort'],
  'by hashes': ['indexscan', 'bitmapscan', 'nestloop', 'mergejoin'],
}

/** As the audit log once stored its clock: it failed from the first autoanalyze on. */
const faulty = `
  with clock_row as materialized (
    select key from meta where key = 'clock' for no key update skip locked
  )
  update meta set value = $1::text from clock_row
  where meta.key = clock_row.key and meta.value::bigint < $1::bigint`

/**
 * Plans differ with statistics, versions and machines, so that any predicate may be evaluated on any row of its table:
 * a cast or a function that fails on some of them fails one day.
 */
describe.skipIf(missing !== null)('statements of PostgreSQL, with statistics of all tables', () => {
  // Statements of the set-up end here. From here on they are those of the test.
  beforeAll(() => statements[Symbol.dispose]())

  const poisoned = async () => {
    const database = await inDatabase()
    await (await openPostgres({ url: database.url }))[Symbol.asyncDispose]()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const tables = await poisonTables(client)
    return {
      client,
      tables,
      async replay(all: Iterable<Statement>): Promise<readonly string[]> {
        const failed: string[] = []
        for (const [name, kinds] of Object.entries(without)) {
          await client.query('reset all')
          // Plans that are turned off cost so much that each statement would be compiled first.
          await client.query('set jit = off')
          for (const kind of kinds) await client.query(`set enable_${kind} = off`)
          const found = await replayStatements(client, all)
          failed.push(...found.map((text) => `${name}: ${text}`))
        }
        return failed
      },
      async [Symbol.asyncDispose]() {
        await client.end()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test('fail on no row which they do not choose, whatever the plan', async () => {
    await using place = await poisoned()
    const ran = [...statements.found.values()]
    const untouched = place.tables.filter((name) => !ran.some(({ text }) => text.includes(name)))
    expect(untouched, 'no statement of this file uses these tables').toEqual([])
    expect(await place.replay(ran)).toEqual([])
    expect(await place.replay([{ text: faulty, values: ['5'] }])).toContain(
      `by hashes: 22P02: ${faulty}`,
    )
  })

  test('cast parameters and results, never a column: no plan can reach a value that does not fit', async () => {
    await using place = await poisoned()
    const functions = await place.client.query<{ text: string }>(
      `select prosrc as text from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    const texts = [...statements.found.keys(), ...functions.rows.map(({ text }) => text)]
    expect(texts.some((text) => text.includes('::'))).toBe(true)
    expect(texts.flatMap(castColumns)).toEqual([])
    expect(castColumns(faulty)).toEqual(['meta.value::bigint'])
    expect(castColumns('select cast("value" as int), cast(sum(rows) as int), $1::int')).toEqual([
      'cast("value" as int',
    ])
  })
})
