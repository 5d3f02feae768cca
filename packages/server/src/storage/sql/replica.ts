import { type Kysely, sql } from 'kysely'
import { parseStored } from '../../domain/parse-stored.ts'
import type { FoundEntry, ReplicaEntry, ReplicaQuery, ReplicaStore } from '../../ports/replica.ts'
import { entryLimits } from '../entry-limits.ts'
import { searchOf, wordsOf } from '../words.ts'
import type { SearchDialect } from './search.ts'
import type { Db, ReplicaEntriesTable, Tables } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

type Row = Omit<ReplicaEntriesTable, 'num'>
const columns = [
  'collection',
  'id',
  'version',
  'sort_ms',
  'until_ms',
  'title',
  'sender',
  'flags',
  'keys_json',
  'body_json',
  'size_bytes',
] as const satisfies readonly (keyof Row)[]

const fromRow = (row: Pick<Row, (typeof columns)[number]>): FoundEntry => ({
  collection: decodeText(row.collection),
  id: decodeText(row.id),
  version: decodeText(row.version),
  sort_ms: row.sort_ms,
  until_ms: row.until_ms,
  title: decodeText(row.title),
  from: decodeText(row.sender),
  flags: decodeText(row.flags).split('\n').slice(1, -1),
  keys: parseStored(row.keys_json, 'replica_entries.keys_json'),
  body: parseStored(row.body_json, 'replica_entries.body_json'),
  size_bytes: row.size_bytes,
})

/** Each flag stands between line breaks, so that one is found whatever the others are. */
const flagText = (flag: string): string => encodeText(`\n${flag}\n`)
const flagsText = (flags: readonly string[]): string =>
  encodeText(flags.length === 0 ? '\n' : `\n${flags.join('\n')}\n`)

const toRow = (service: string, entry: ReplicaEntry, run: number): Row => ({
  service,
  collection: encodeText(entry.collection),
  id: encodeText(entry.id),
  version: encodeText(entry.version),
  sort_ms: entry.sort_ms,
  until_ms: entry.until_ms,
  title: encodeText(entry.title),
  sender: encodeText(entry.from),
  flags: flagsText(entry.flags),
  keys_json: JSON.stringify(entry.keys),
  body_json: JSON.stringify(entry.body),
  size_bytes: entry.size_bytes,
  run,
})

async function findNum(db: Kysely<Tables>, service: string, collection: string, id: string) {
  const row = await db
    .selectFrom('replica_entries')
    .select('num')
    .where('service', '=', service)
    .where('collection', '=', encodeText(collection))
    .where('id', '=', encodeText(id))
    .executeTakeFirst()
  return row?.num ?? null
}

async function count(db: Kysely<Tables>, service: string, more: number): Promise<void> {
  if (more === 0) return
  await db
    .insertInto('replica_counts')
    .values({ service, entries: more })
    .onConflict((conflict) =>
      conflict
        .column('service')
        .doUpdateSet((eb) => ({ entries: eb('replica_counts.entries', '+', more) })),
    )
    .execute()
}

const drop = async (
  write: Db['write'],
  search: SearchDialect,
  nums: readonly number[],
): Promise<void> => {
  if (nums.length === 0) return
  await search.remove(write, nums)
  await write.deleteFrom('replica_keys').where('num', 'in', nums).execute()
  await write.deleteFrom('replica_entries').where('num', 'in', nums).execute()
}

const put = async (
  write: Db['write'],
  search: SearchDialect,
  service: string,
  given: ReplicaEntry,
  run: number,
): Promise<number> => {
  const entry = entryLimits(given)
  const row = toRow(service, entry, run)
  const known = await findNum(write, service, entry.collection, entry.id)
  if (known !== null)
    await write.updateTable('replica_entries').set(row).where('num', '=', known).execute()
  const num =
    known ??
    (
      await write
        .insertInto('replica_entries')
        .values(row)
        .returning('num')
        .executeTakeFirstOrThrow()
    ).num
  if (known !== null) await write.deleteFrom('replica_keys').where('num', '=', num).execute()
  const keys = [...new Set(entry.keys)].map((key) => ({ service, key: encodeText(key), num }))
  if (keys.length > 0) await write.insertInto('replica_keys').values(keys).execute()
  const words = { title: entry.title, sender: entry.from, text: entry.text }
  await search.put(write, num, {
    title: wordsOf(words.title),
    sender: wordsOf(words.sender),
    text: wordsOf(words.text),
  })
  return known === null ? 1 : 0
}

const matching = (
  read: Db['read'],
  search: SearchDialect,
  service: string,
  query: ReplicaQuery,
) => {
  const asked = searchOf(query)
  const { collections, since_ms, before_ms, with_flags = [], without_flags = [] } = query
  let rows = read.selectFrom('replica_entries').where('service', '=', service)
  if (asked === 'impossible' || collections?.length === 0) return rows.where(sql<boolean>`1 = 0`)
  if (asked) rows = rows.where(search.matches(asked))
  if (collections) rows = rows.where('collection', 'in', collections.map(encodeText))
  if (since_ms !== undefined) rows = rows.where('until_ms', '>=', since_ms)
  if (before_ms !== undefined) rows = rows.where('sort_ms', '<', before_ms)
  for (const flag of with_flags)
    rows = rows.where(sql<boolean>`replace(flags, ${flagText(flag)}, '') <> flags`)
  for (const flag of without_flags)
    rows = rows.where(sql<boolean>`replace(flags, ${flagText(flag)}, '') = flags`)
  return rows
}

const changes = (
  { write }: Db,
  search: SearchDialect,
): Pick<ReplicaStore, 'apply' | 'dropOlder'> => ({
  async apply(service, changes, run) {
    let more = 0
    for (const change of changes) {
      if (change.kind === 'put') {
        more += await put(write, search, service, change.entry, run)
        continue
      }
      const num = await findNum(write, service, change.key.collection, change.key.id)
      if (num === null) continue
      await drop(write, search, [num])
      more -= 1
    }
    await count(write, service, more)
  },

  async dropOlder(service, collections, run, limit) {
    const rows = await write
      .selectFrom('replica_entries')
      .select('num')
      .where('service', '=', service)
      .where('run', '<', run)
      .$if(collections !== null, (query) =>
        query.where('collection', 'in', (collections ?? []).map(encodeText)),
      )
      .limit(limit)
      .execute()
    await drop(
      write,
      search,
      rows.map(({ num }) => num),
    )
    await count(write, service, -rows.length)
    return rows.length
  },
})

const lookups = (
  { read }: Db,
  search: SearchDialect,
): Pick<ReplicaStore, 'find' | 'findByKey' | 'query'> => ({
  async find(service, { collection, id }) {
    const row = await read
      .selectFrom('replica_entries')
      .select(columns)
      .where('service', '=', service)
      .where('collection', '=', encodeText(collection))
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async findByKey(service, key) {
    const rows = await read
      .selectFrom('replica_entries')
      .select(columns)
      // As a union each half uses its index; as an `or` neither does.
      .where('num', 'in', (eb) =>
        eb
          .selectFrom('replica_keys')
          .select('replica_keys.num')
          .where('replica_keys.service', '=', service)
          .where('replica_keys.key', '=', encodeText(key))
          .union(
            eb
              .selectFrom('replica_entries as named')
              .select('named.num')
              .where('named.service', '=', service)
              .where('named.id', '=', encodeText(key)),
          ),
      )
      .orderBy('collection')
      .orderBy('id')
      .limit(100)
      .execute()
    return rows.map(fromRow)
  },

  async query(service, query) {
    const rows = await matching(read, search, service, query)
      .select(columns)
      .orderBy('sort_ms', query.order === 'newest_first' ? 'desc' : 'asc')
      .orderBy('collection')
      .orderBy('id')
      .limit(query.limit)
      .offset(query.offset)
      .execute()
    const { total } = await matching(read, search, service, query)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { entries: rows.map(fromRow), total }
  },
})

const overviews = ({ read }: Db): Pick<ReplicaStore, 'collections' | 'counts'> => ({
  async collections(service, flag) {
    const has = sql<number>`sum(case when replace(flags, ${flagText(flag)}, '') <> flags then 1 else 0 end)`
    const rows = await read
      .selectFrom('replica_entries')
      .select((eb) => ['collection', eb.fn.countAll<number>().as('entries'), has.as('with_flag')])
      .where('service', '=', service)
      .groupBy('collection')
      .orderBy('collection')
      .execute()
    return rows.map((row) => ({
      collection: decodeText(row.collection),
      entries: row.entries,
      with_flag: Number(row.with_flag),
    }))
  },

  async counts() {
    const rows = await read
      .selectFrom('replica_counts')
      .select(['service', 'entries'])
      .where('entries', '>', 0)
      .execute()
    return new Map(rows.map(({ service, entries }) => [service, entries]))
  },
})

export const sqlReplica = (db: Db, search: SearchDialect): ReplicaStore => ({
  ...changes(db, search),
  ...lookups(db, search),
  ...overviews(db),
})
