import type pg from 'pg'
import type { CommitGroup } from '../../ports/audit-rows.ts'
import { encodeText } from '../sql/text.ts'
import { postgresFailure } from './dialect.ts'

const counted = (table: string, key: string, counter: string, parameter: number) => `
  ${table}_wanted as (
    select * from unnest($${parameter}::text[], $${parameter + 1}::bigint[]) as wanted(key, calls)
    where not exists (select from progress where progress.counted > coalesce($10::bigint, progress.counted))
  ),
  ${table}_locked as materialized (
    select ${key} as key from ${table} where ${key} in (select key from ${table}_wanted)
    order by ${key} for no key update
  ),
  ${table}_counted as (
    update ${table} set ${counter} = ${counter} + ${table}_wanted.calls
    from ${table}_wanted join ${table}_locked using (key) where ${table}.${key} = ${table}_wanted.key
  )`

/**
 * One statement is one transaction and one round trip. Rows that nodes share are locked in one order,
 * so that nodes cannot deadlock; the clock is left to whoever has its row, since it is the same for all.
 */
const text = `
with progress as materialized (
    select coalesce(max(counted), 0) as counted from audit_progress where chain = $1::text
  ),
  copied as (
    insert into audit_copies (chain, seq, hash, body)
    select $1::text, * from unnest(
      $2::bigint[], string_to_array($3::text, chr(10)), string_to_array($4::text, chr(10)))
    on conflict do nothing
  ),
  moved_on as (
    insert into audit_progress (chain, counted) select $1::text, $11::bigint where $11::bigint > 0
    on conflict (chain) do update set counted = greatest(audit_progress.counted, excluded.counted)
  ),
  ${counted('agents', 'name', 'total_invocations', 5)},
  ${counted('sessions', 'id', 'invocations', 7)},
  clock_row as materialized (
    select id from service_clock for no key update skip locked
  ),
  clock_set as (
    update service_clock set ms = $9::bigint from clock_row
    where service_clock.id = clock_row.id and ms < $9::bigint
  )
select 1`

const retryable = new Set(['40001', '40P01'])
const attemptsMax = 3

const pairsOf = (counts: ReadonlyMap<string, number>): [string[], number[]] => [
  [...counts.keys()].map(encodeText),
  [...counts.values()],
]

/** Records the group on a client that does nothing else. Stamps are stored where uses are taken. */
export const commitOn = async (client: pg.Client, group: CommitGroup): Promise<void> => {
  const { chain, rows, agentCounts, sessionCounts, clockMs } = group
  const values = [
    chain,
    rows.map(({ seq }) => seq),
    rows.map(({ hash }) => hash).join('\n'),
    rows.map(({ body }) => body).join('\n'),
    ...pairsOf(agentCounts),
    ...pairsOf(sessionCounts),
    clockMs,
    rows[0]?.seq ?? null,
    (rows.at(-1)?.seq ?? -1) + 1,
  ]
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query({ name: 'gatehouse-group', text, values })
      return
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (!retryable.has(code) || attempt === attemptsMax) throw postgresFailure(error)
    }
  }
}
