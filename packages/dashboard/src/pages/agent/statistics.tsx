import type { AgentDetail } from '@gatehouse/contract'
import { agentsText as text } from '../../messages/agents.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Meter } from '../../ui/meter.tsx'
import { NotListed } from '../../ui/not-listed.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Section } from '../../ui/page.tsx'
import { durationText } from '../../ui/time.tsx'

type Stats = AgentDetail['stats']
type OfCapability = Stats['by_capability'][number]
type OfDay = Stats['by_day'][number]
type OfLimit = Stats['rate_limits'][number]

const capabilities: readonly Column<OfCapability>[] = [
  {
    id: 'capability',
    header: text.capability,
    wide: true,
    sortBy: (row) => row.capability,
    cell: (row) => row.capability,
  },
  {
    id: 'calls',
    header: text.calls,
    align: 'right',
    sortBy: (row) => row.calls,
    cell: (row) => numberText(row.calls),
  },
  {
    id: 'failures',
    header: text.failures,
    align: 'right',
    sortBy: (row) => row.failures,
    cell: (row) => numberText(row.failures),
  },
  {
    id: 'p50',
    header: text.p50,
    align: 'right',
    sortBy: (row) => row.p50_ms,
    cell: (row) => durationText(row.p50_ms),
  },
  {
    id: 'p95',
    header: text.p95,
    align: 'right',
    sortBy: (row) => row.p95_ms,
    cell: (row) => durationText(row.p95_ms),
  },
]

const days: readonly Column<OfDay>[] = [
  { id: 'day', header: text.day, wide: true, sortBy: (row) => row.day, cell: (row) => row.day },
  { id: 'calls', header: text.calls, align: 'right', cell: (row) => numberText(row.calls) },
  {
    id: 'failures',
    header: text.failures,
    align: 'right',
    cell: (row) => numberText(row.failures),
  },
]

const Used = ({ row: { used, limit, match } }: { readonly row: OfLimit }) => (
  <span className="flex items-center gap-2">
    <Meter label={match} used={used} max={limit} />
    <span className="figure whitespace-nowrap">
      {numberText(used)} / {numberText(limit)}
    </span>
  </span>
)

const limits: readonly Column<OfLimit>[] = [
  { id: 'match', header: text.limit, wide: true, cell: (row) => `${row.match} · ${row.window}` },
  { id: 'used', header: text.used, cell: (row) => <Used row={row} /> },
]

/** How much an agent did and how it went, and how near it is to its limits. */
export const Statistics = ({
  stats: { by_capability, by_day, rate_limits, not_listed },
}: {
  readonly stats: Stats
}) => (
  <>
    <NotListed entries={not_listed} />
    <Section title={text.byCapability}>
      {by_capability.length === 0 ? (
        <p>{text.noCalls}</p>
      ) : (
        <DataTable
          caption={text.byCapability}
          rows={by_capability}
          columns={capabilities}
          keyOf={({ capability }) => capability}
          sort={{ id: 'calls', desc: true }}
          sortName="capabilities"
        />
      )}
    </Section>
    {by_day.length > 0 && (
      <Section title={text.byDay}>
        <DataTable
          caption={text.byDay}
          rows={by_day}
          columns={days}
          keyOf={({ day }) => day}
          sort={{ id: 'day', desc: true }}
          sortName="days"
        />
      </Section>
    )}
    <Section title={text.limits}>
      {rate_limits.length === 0 ? (
        <p>{text.noLimits}</p>
      ) : (
        <DataTable
          caption={text.limits}
          rows={rate_limits}
          columns={limits}
          keyOf={({ match, window }) => `${match} ${window}`}
        />
      )}
    </Section>
  </>
)
