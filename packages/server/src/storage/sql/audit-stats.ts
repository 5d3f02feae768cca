import { type Kysely, sql } from 'kysely'
import type { AuditIndex } from '../../ports/audit-rows.ts'
import { percentile } from '../percentile.ts'
import { statsCapabilities, statsDays, statsSample } from '../ran.ts'
import { withTail } from './audit-daily.ts'
import type { Tables } from './tables.ts'
import { decodeText } from './text.ts'

type Count = { readonly of: string; readonly calls: number; readonly failures: number }

/** Calls that ran, of an agent, by capability or by day. */
const callsBy = async (
  db: Kysely<Tables>,
  agent: string,
  by: 'capability' | 'day',
  limit: number,
): Promise<readonly Count[]> => {
  const key = sql.ref(by)
  const { rows } = await sql<Count>`
    ${withTail},
    counted as (
      select capability, day, result, rows from audit_daily
      where agent = ${agent} and kind = 'call' and result in ('success', 'error')
      union all
      select capability, substr(timestamp, 1, 10) as day, result, 1 from tail
      where agent = ${agent} and kind = 'call' and result in ('success', 'error')
    )
    select ${key} as "of", cast(sum(rows) as bigint) as calls,
           cast(sum(case when result = 'error' then rows else 0 end) as bigint) as failures
    from counted group by ${key} order by ${key} desc limit ${limit}`.execute(db)
  return rows.toReversed()
}

const durationsOf = async (db: Kysely<Tables>, agent: string, capability: string) => {
  const rows = await db
    .selectFrom('audit')
    .select('duration_ms')
    .where('agent', '=', agent)
    .where('capability', '=', capability)
    .where('kind', '=', 'call')
    .where('result', 'in', ['success', 'error'])
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(statsSample)
    .execute()
  return rows
    .flatMap((row) => (row.duration_ms === null ? [] : [row.duration_ms]))
    .toSorted((a, b) => a - b)
}

export const auditStats = async (
  db: Kysely<Tables>,
  agent: string,
): ReturnType<AuditIndex['statsOf']> => {
  const by_capability = []
  const counts = await callsBy(db, agent, 'capability', statsCapabilities)
  for (const { of: capability, calls, failures } of counts) {
    const durations = await durationsOf(db, agent, capability)
    by_capability.push({
      capability: decodeText(capability),
      calls,
      failures,
      p50_ms: percentile(durations, 0.5),
      p95_ms: percentile(durations, 0.95),
    })
  }
  const days = await callsBy(db, agent, 'day', statsDays)
  const by_day = days.map(({ of: day, calls, failures }) => ({ day, calls, failures }))
  return { by_capability, by_day }
}
