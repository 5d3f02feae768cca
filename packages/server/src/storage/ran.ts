import type { IndexRow } from '../ports/audit-rows.ts'

/** What statistics count as one call: it ran, and this row says how it ended. */
export const ran = (row: IndexRow): boolean =>
  row.kind === 'call' && (row.result === 'success' || row.result === 'error')

/** How many days `statsOf` goes back. */
export const statsDays = 90

/** How many of the newest calls percentiles are taken from. */
export const statsSample = 1_000

/** More capabilities than any agent has: calls that ran have names that exist. */
export const statsCapabilities = 1_000
