import type pg from 'pg'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import { auditColumns, toIndexRow } from '../sql/audit-codec.ts'
import { encodeText } from '../sql/text.ts'
import { postgresFailure } from './dialect.ts'

const arrayTypes: Partial<Record<(typeof auditColumns)[number], string>> = {
  seq: 'bigint[]',
  duration_ms: 'double precision[]',
}
const rowArrays = auditColumns.map((column, i) => `$${i + 1}::${arrayTypes[column] ?? 'text[]'}`)
const next = auditColumns.length + 1

const counted = (table: string, key: string, counter: string, parameter: number) => `
  ${table}_wanted as (
    select * from unnest($${parameter}::text[], $${parameter + 1}::bigint[]) as wanted(key, calls)
    where not exists (select from progress where progress.counted > coalesce($${next + 9}::bigint, progress.counted))
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
    select coalesce(max(next), 0) as next, coalesce(max(counted), 0) as counted
    from audit_progress where chain = $${next + 5}::text
  ),
  indexed as (
    insert into audit (${auditColumns.join(', ')}) select * from unnest(${rowArrays.join(', ')})
    on conflict do nothing
  ),
  copied as (
    insert into audit_copies (chain, seq, hash, body)
    select $${next + 5}::text, * from unnest($2::bigint[], $${next + 6}::text[], $${next + 7}::text[])
    on conflict do nothing
  ),
  moved_on as (
    insert into audit_progress (chain, next, counted)
    select $${next + 5}::text, $${next + 8}::bigint, $${next + 8}::bigint
    where $${next + 5}::text is not null
    on conflict (chain) do update set next = greatest(audit_progress.next, excluded.next),
      counted = greatest(audit_progress.counted, excluded.counted)
  ),
  ${counted('agents', 'name', 'total_invocations', next)},
  ${counted('sessions', 'id', 'invocations', next + 2)},
  clock_row as materialized (
    select id from service_clock for no key update skip locked
  ),
  clock_set as (
    update service_clock set ms = $${next + 4}::bigint from clock_row
    where service_clock.id = clock_row.id and ms < $${next + 4}::bigint
  )
select 1`

const retryable = new Set(['40001', '40P01'])
const attemptsMax = 3

const columnsOf = (rows: readonly AuditRow[]): unknown[][] => {
  const stored = rows.map(toIndexRow)
  return auditColumns.map((column) => stored.map((row) => row[column]))
}

const pairsOf = (counts: ReadonlyMap<string, number>): [string[], number[]] => [
  [...counts.keys()].map(encodeText),
  [...counts.values()],
]

/** Indexes the group on a client that does nothing else. Stamps are stored where uses are taken. */
export const commitOn = async (client: pg.Client, group: CommitGroup): Promise<void> => {
  const values = [
    ...columnsOf(group.rows),
    ...pairsOf(group.agentCounts),
    ...pairsOf(group.sessionCounts),
    group.clockMs,
    group.rows[0]?.chain ?? null,
    group.rows.map(({ hash }) => hash),
    group.rows.map(({ body }) => body),
    (group.rows.at(-1)?.seq ?? -1) + 1,
    group.rows[0]?.seq ?? null,
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
