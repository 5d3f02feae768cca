import type { Kysely } from 'kysely'
import type { AuditRows } from '../../ports/audit-rows.ts'
import { percentile } from '../percentile.ts'
import { statsCapabilities, statsDays, statsSample } from '../ran.ts'
import { dailyCounts } from './audit-daily.ts'
import type { Tables } from './tables.ts'
import { decodeText } from './text.ts'

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
): ReturnType<AuditRows['statsOf']> => {
  const by_capability = []
  const counts = await dailyCounts(db, agent, 'capability', statsCapabilities)
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
  const days = await dailyCounts(db, agent, 'day', statsDays)
  const by_day = days.map(({ of: day, calls, failures }) => ({ day, calls, failures }))
  return { by_capability, by_day }
}
