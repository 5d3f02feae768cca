import type { AuditRows } from '../../ports/audit-rows.ts'
import type { Tally } from './block.ts'
import type { ChainIndex } from './chain-index.ts'
import { everything } from './conditions.ts'
import { percentile } from './percentile.ts'

const daysMax = 90
/** How many of the newest calls percentiles are taken from. */
const sample = 1_000
/** More capabilities than any agent has: calls that ran have names that exist. */
const capabilitiesMax = 1_000

type Sum = { calls: number; failures: number }

const ran = ({ kind, result }: Tally): boolean =>
  kind === 'call' && (result === 'success' || result === 'error')

const addTo = <K>(sums: Map<K, Sum>, key: K, { entries, result }: Tally): void => {
  const sum = sums.get(key) ?? { calls: 0, failures: 0 }
  sum.calls += entries
  if (result === 'error') sum.failures += entries
  sums.set(key, sum)
}

/** Durations of the newest calls that ran, shortest first. */
const durationsOf = async (
  chains: readonly ChainIndex[],
  agent: string,
  capability: string,
): Promise<number[]> => {
  const on = {
    ...everything,
    agent,
    kind: 'call',
    capability: { kind: 'exact', name: capability },
  } as const
  const found = []
  for (const chain of chains)
    for (const result of ['success', 'error'])
      found.push(...(await chain.durations({ ...on, result }, sample)))
  return found
    .toSorted((a, b) => b.time - a.time)
    .slice(0, sample)
    .flatMap(({ ms }) => (Number.isNaN(ms) ? [] : [ms]))
    .toSorted((a, b) => a - b)
}

export const statsOf = async (
  chains: readonly ChainIndex[],
  agent: string,
): ReturnType<AuditRows['statsOf']> => {
  const byCapability = new Map<string, Sum>()
  const byDay = new Map<number, Sum>()
  const on = { ...everything, agent, kind: 'call' }
  for (const chain of chains)
    for await (const tally of chain.tallies(on)) {
      if (!ran(tally)) continue
      addTo(byCapability, tally.capability, tally)
      addTo(byDay, tally.day, tally)
    }
  const by_capability = []
  const named = [...byCapability].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [capability, sum] of named.slice(0, capabilitiesMax)) {
    const durations = await durationsOf(chains, agent, capability)
    const [p50_ms, p95_ms] = [percentile(durations, 0.5), percentile(durations, 0.95)]
    by_capability.push({ capability, ...sum, p50_ms, p95_ms })
  }
  const days = [...byDay].toSorted(([a], [b]) => a - b).slice(-daysMax)
  const by_day = days.map(([day, sum]) => ({
    day: new Date(day).toISOString().slice(0, 10),
    ...sum,
  }))
  return { by_capability, by_day }
}
