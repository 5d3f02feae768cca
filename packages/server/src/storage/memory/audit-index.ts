import type { AuditIndex, IndexRow } from '../../ports/audit-rows.ts'
import { type AuditConditions, auditConditions } from '../filter.ts'
import { percentile } from '../percentile.ts'
import { ran, statsDays, statsSample } from '../ran.ts'
import { type Access, compareText } from './state.ts'

const matches = (on: AuditConditions, row: IndexRow): boolean =>
  (on.agent === null || row.agent === on.agent) &&
  (on.capability === null ||
    (on.capability.kind === 'exact'
      ? row.capability === on.capability.name
      : row.capability.startsWith(on.capability.prefix))) &&
  (on.since === null || row.timestamp >= on.since) &&
  (on.until === null || row.timestamp < on.until) &&
  (on.result === null || row.result === on.result) &&
  (on.policy_decision === null || row.policy_decision === on.policy_decision) &&
  (on.session === null || row.session_id === on.session)

const newestFirst = (a: IndexRow, b: IndexRow): number =>
  compareText(b.timestamp, a.timestamp) || b.seq - a.seq

const tally = (rows: readonly IndexRow[]) => ({
  calls: rows.length,
  failures: rows.filter((row) => row.result === 'error').length,
})

const grouped = (
  rows: readonly IndexRow[],
  keyOf: (row: IndexRow) => string,
): [string, IndexRow[]][] => {
  const groups = new Map<string, IndexRow[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return [...groups].toSorted(([a], [b]) => compareText(a, b))
}

const durationsOf = (rows: readonly IndexRow[]): number[] =>
  rows
    .toSorted(newestFirst)
    .slice(0, statsSample)
    .flatMap((row) => (row.duration_ms === null ? [] : [row.duration_ms]))
    .toSorted((a, b) => a - b)

export const memoryAuditIndex = ({ state, write }: Access): AuditIndex => {
  const all = () => state().audit.all()
  const ofChain = (chain: string) =>
    all()
      .filter((row) => row.chain === chain)
      .toSorted((a, b) => a.seq - b.seq)
  return {
    progress: async (chain) => {
      const next = (ofChain(chain).at(-1)?.seq ?? -1) + 1
      return { next, counted: Math.max(next, state().counted.get(chain) ?? 0) }
    },
    size: async (chain) => ofChain(chain).length,
    clear: (chain) =>
      write((own) => {
        own.counted.set(chain, (ofChain(chain).at(-1)?.seq ?? -1) + 1)
        own.audit.remove((row) => row.chain === chain)
      }),
    copies: async () => [],
    dropCopies: async () => undefined,

    range: async (chain, from, to, limit) =>
      ofChain(chain)
        .filter((row) => row.seq >= from && row.seq < to)
        .slice(0, limit),

    ends: async () =>
      grouped(all(), (row) => row.chain).map(([chain, rows]) => ({
        chain,
        next: (rows.toSorted((a, b) => a.seq - b.seq).at(-1)?.seq ?? -1) + 1,
      })),

    find: async (id) => state().audit.find(id),

    async query(filter) {
      const on = auditConditions(filter)
      const found = all()
        .filter((row) => matches(on, row))
        .toSorted(newestFirst)
      const rows = found.slice(filter.offset, filter.offset + filter.limit)
      return { rows, total: found.length }
    },

    async activity({ agent, limit, offset }) {
      const found = all()
        .filter((row) => agent === undefined || row.agent === agent)
        .filter((row) => row.result !== 'pending' || row.policy_decision !== 'autonomous')
        .toSorted(newestFirst)
      return { rows: found.slice(offset, offset + limit), total: found.length }
    },

    async openIntents(chain, limit) {
      const closed = new Set(all().map((row) => row.intent_id))
      const open = (row: IndexRow) =>
        row.kind === 'call' &&
        row.result === 'pending' &&
        row.approval_id === null &&
        !closed.has(row.id)
      return ofChain(chain).filter(open).slice(0, limit)
    },

    async counts(sinceTimestamp) {
      const calls = all().filter((row) => row.kind === 'call' && row.timestamp >= sinceTimestamp)
      return {
        calls: calls.filter(ran).length,
        denied: calls.filter((row) => row.result === 'denied').length,
        entries: all().length,
      }
    },

    async statsOf(agent) {
      const calls = all().filter((row) => row.agent === agent && ran(row))
      return {
        by_capability: grouped(calls, (row) => row.capability).map(([capability, rows]) => {
          const durations = durationsOf(rows)
          return {
            capability,
            ...tally(rows),
            p50_ms: percentile(durations, 0.5),
            p95_ms: percentile(durations, 0.95),
          }
        }),
        by_day: grouped(calls, (row) => row.timestamp.slice(0, 10))
          .slice(-statsDays)
          .map(([day, rows]) => ({ day, ...tally(rows) })),
      }
    },
  }
}
