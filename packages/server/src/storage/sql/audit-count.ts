import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { AuditConditions } from '../filter.ts'
import { withTail } from './audit-daily.ts'
import type { Tables } from './tables.ts'
import { afterPrefix, encodeText } from './text.ts'

/** What is counted, and of which kind where that matters. */
export type Counted = Omit<AuditConditions, 'session'> & { readonly kind?: string }

type Span = { readonly from: string | null; readonly to: string | null }

const and = (all: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  all.length === 0 ? sql`true` : sql.join([...all], sql` and `)

/** The conditions on columns that rows and daily counts have in common. */
const common = ({ agent, capability, result, kind }: Counted): RawBuilder<unknown>[] => {
  const all: RawBuilder<unknown>[] = []
  if (agent !== null) all.push(sql`agent = ${encodeText(agent)}`)
  if (capability?.kind === 'exact') all.push(sql`capability = ${encodeText(capability.name)}`)
  if (capability?.kind === 'prefix') {
    const from = encodeText(capability.prefix)
    const to = afterPrefix(from)
    all.push(sql`capability >= ${from}`)
    if (to !== null) all.push(sql`capability < ${to}`)
  }
  if (result !== null) all.push(sql`result = ${result}`)
  if (kind !== undefined) all.push(sql`kind = ${kind}`)
  return all
}

const decision = ({ policy_decision }: Counted): RawBuilder<unknown>[] =>
  policy_decision === null ? [] : [sql`policy_decision = ${policy_decision}`]

const within = (column: string, { from, to }: Span): RawBuilder<unknown>[] => [
  ...(from === null ? [] : [sql`${sql.ref(column)} >= ${from}`]),
  ...(to === null ? [] : [sql`${sql.ref(column)} < ${to}`]),
]

const midnight = 'T00:00:00.000Z'
const isMidnight = (timestamp: string): boolean => timestamp.endsWith(midnight)

const dayAfter = (timestamp: string): string => {
  const day = new Date(`${timestamp.slice(0, 10)}${midnight}`)
  return new Date(day.getTime() + 86_400_000).toISOString()
}

/** Rows that match in a span, one by one from the index. */
const countRows = async (db: Kysely<Tables>, on: Counted, span: Span): Promise<number> => {
  const where = and([...common(on), ...decision(on), ...within('timestamp', span)])
  const { rows } = await sql<{ n: number }>`select count(*) as n from audit where ${where}`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}

/** Rows that match in whole days: from the daily counts, and the tails. */
const countDays = async (db: Kysely<Tables>, on: Counted, span: Span): Promise<number> => {
  const days = { from: span.from?.slice(0, 10) ?? null, to: span.to?.slice(0, 10) ?? null }
  const { rows } = await sql<{ n: number }>`
    ${withTail}
    select cast(
      (select coalesce(sum(rows), 0) from audit_daily
       where ${and([...common(on), ...decision(on), ...within('day', days)])})
      + (select count(*) from tail
         where ${and([...common(on), ...decision(on), ...within('timestamp', span)])})
    as bigint) as n`.execute(db)
  return rows[0]?.n ?? 0
}

/**
 * How many rows match. Whole days come from the daily counts, whatever the length of the log; the parts
 * of a day at either end are counted.
 */
export const countAudit = async (db: Kysely<Tables>, on: Counted): Promise<number> => {
  const { since, until } = on
  const from = since === null || isMidnight(since) ? since : dayAfter(since)
  const to = until === null ? null : `${until.slice(0, 10)}${midnight}`
  if (from !== null && to !== null && from >= to)
    return countRows(db, on, { from: since, to: until })
  let total = await countDays(db, on, { from, to })
  if (from !== since) total += await countRows(db, on, { from: since, to: from })
  if (to !== until) total += await countRows(db, on, { from: to, to: until })
  return total
}
