import type { Kysely } from 'kysely'
import type pg from 'pg'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import { auditColumns, toAuditRow } from '../sql/audit-codec.ts'
import { sqlAuditRows } from '../sql/audit-rows.ts'
import { sqlMeta } from '../sql/meta.ts'
import type { Tables } from '../sql/tables.ts'
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
with appended as (
    insert into audit (${auditColumns.join(', ')}) select * from unnest(${rowArrays.join(', ')})
  ),
  ${counted('agents', 'name', 'total_invocations', next)},
  ${counted('sessions', 'id', 'invocations', next + 2)},
  clock_row as materialized (
    select id from service_clock for no key update skip locked
  ),
  clock_set as (
    update service_clock set ms = $${next + 4}::bigint from clock_row
    where service_clock.id = clock_row.id and ms < $${next + 4}::bigint
  ),
  sealed as (
    insert into meta (key, value) select $${next + 5}::text, $${next + 6}::text
    where $${next + 5}::text is not null
    on conflict (key) do update set value = excluded.value
  )
select 1`

const retryable = new Set(['40001', '40P01'])
const attemptsMax = 3

const columnsOf = (rows: readonly AuditRow[]): unknown[][] => {
  const stored = rows.map(toAuditRow)
  return auditColumns.map((column) => stored.map((row) => row[column]))
}

const pairsOf = (counts: ReadonlyMap<string, number>): [string[], number[]] => [
  [...counts.keys()].map(encodeText),
  [...counts.values()],
]

/** Stores the group on a client that does nothing else. Stamps are stored where uses are taken. */
export const commitOn = async (client: pg.Client, group: CommitGroup): Promise<void> => {
  const values = [
    ...columnsOf(group.rows),
    ...pairsOf(group.agentCounts),
    ...pairsOf(group.sessionCounts),
    group.clockMs,
    ...(group.sealed
      ? [encodeText(group.sealed.key), encodeText(group.sealed.value)]
      : [null, null]),
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

/** The same inside a transaction, where it need not be fast. */
export const storeGroup = async (tx: Kysely<Tables>, group: CommitGroup): Promise<void> => {
  await sqlAuditRows({ read: tx, write: tx }).insert(group.rows)
  for (const [name, calls] of sorted(group.agentCounts))
    await tx
      .updateTable('agents')
      .set((eb) => ({ total_invocations: eb('total_invocations', '+', calls) }))
      .where('name', '=', encodeText(name))
      .execute()
  for (const [id, calls] of sorted(group.sessionCounts))
    await tx
      .updateTable('sessions')
      .set((eb) => ({ invocations: eb('invocations', '+', calls) }))
      .where('id', '=', encodeText(id))
      .execute()
  if (group.sealed) await sqlMeta({ read: tx, write: tx }).set(group.sealed.key, group.sealed.value)
}

/** Rows that nodes share are locked in one order, so that nodes cannot deadlock. */
const sorted = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
