import type { Figures } from '@gatehouse/contract'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { notListedLines } from '../not-listed-text.ts'
import { type Column, renderTable } from '../table.ts'
import { shownDuration, shownTime, timeAgo } from '../times.ts'

/** About so many rows are a small table. */
const rowsWanted = 24

type Part = {
  readonly at: string
  readonly calls: number
  readonly failed: number
  readonly denied: number
  readonly limited: number
  readonly held: number
  readonly p50: number | null
  readonly p95: number | null
  readonly wait: number | null
}

const partsOf = (figures: Figures): Part[] =>
  figures.times.map((at, i) => ({
    at,
    calls: figures.calls[i] ?? 0,
    failed: figures.failed[i] ?? 0,
    denied: figures.denied[i] ?? 0,
    limited: figures.limited[i] ?? 0,
    held: figures.held[i] ?? 0,
    p50: figures.duration_p50_ms[i] ?? null,
    p95: figures.duration_p95_ms[i] ?? null,
    wait: figures.approval_wait_p50_ms[i] ?? null,
  }))

const isBusy = ({ calls, failed, denied, wait }: Part): boolean =>
  calls + failed + denied > 0 || wait !== null

const count = <K extends string>(
  title: string,
  key: K,
): Column<Readonly<Record<K, number | null>>> => ({
  title,
  value: (row) => row[key],
  align: 'right',
})

const calls = count('CALLS', 'calls')
const failed = count('FAILED', 'failed')
const denied = count('DENIED', 'denied')
const held = count('HELD', 'held')

const partColumns: readonly Column<Part>[] = [
  { title: 'FROM', time: ({ at }) => at },
  calls,
  failed,
  denied,
  count('LIMITED', 'limited'),
  held,
  count('P50 MS', 'p50'),
  { ...count('P95 MS', 'p95'), drop: true },
  {
    title: 'WAIT',
    value: ({ wait }) => (wait === null ? null : shownDuration(wait / 1_000)),
    align: 'right',
    drop: true,
  },
]

const agentColumns: readonly Column<Figures['by_agent'][number]>[] = [
  { title: 'AGENT', value: ({ agent }) => agent },
  calls,
  failed,
  denied,
  held,
]

const capabilityColumns: readonly Column<Figures['by_capability'][number]>[] = [
  { title: 'CAPABILITY', value: ({ capability }) => capability },
  calls,
  failed,
  denied,
]

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

const summaryOf = ({ from, to, ...lists }: Figures): string => {
  const counts = (['failed', 'denied', 'limited', 'held'] as const).map(
    (name) => `${sum(lists[name])} ${name}`,
  )
  const all = counted(sum(lists.calls), 'call')
  return `${all} from ${shownTime(from)} to ${shownTime(to)}: ${counts.join(', ')}.`
}

export const figures = defineCommand({
  name: 'figures',
  summary: 'Show numbers of calls over time, by agent and by capability',
  options: {
    agent: { value: 'NAME', about: 'only this agent' },
    since: { value: 'TIME', about: 'from this time (24h), up to 31d ago' },
  },
  examples: ['gatehouse figures', 'gatehouse figures --agent mailbot --since 7d --json'],
  run({ api }, { agent, since }) {
    if (since === undefined) return api.getFigures({ agent, step: 86_400 / rowsWanted })
    const nowMs = Date.now()
    const from = timeAgo(since, nowMs)
    const seconds = Math.ceil((nowMs - Date.parse(from)) / 1_000)
    // A time that cannot be read is for the server to refuse.
    const step = seconds > 0 ? Math.ceil(seconds / rowsWanted) : undefined
    return api.getFigures({ agent, from, to: new Date(nowMs).toISOString(), step })
  },
  text(found, view) {
    const parts = partsOf(found).filter(isBusy)
    const left = notListedLines(found.not_listed, view)
    if (parts.length === 0) {
      const none = `There were no calls from ${shownTime(found.from)} to ${shownTime(found.to)}.`
      return [none, ...left].join('\n')
    }
    return [
      summaryOf(found),
      renderTable(partColumns, parts, view),
      renderTable(agentColumns, found.by_agent, view),
      renderTable(capabilityColumns, found.by_capability, view),
      ...left,
    ].join('\n\n')
  },
})
