import type { PolicySimulation, SimulatedCall } from '@gatehouse/contract'
import { useState } from 'react'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Because } from './because.tsx'
import { Problems } from './problems.tsx'
import { TierBadge } from './tier.tsx'

const isChanged = ({ tier, active_tier }: SimulatedCall): boolean =>
  active_tier !== null && active_tier !== tier

const columns: readonly Column<SimulatedCall>[] = [
  {
    id: 'agent',
    header: common.agent,
    sortBy: ({ agent }) => agent,
    cell: ({ agent }) => <span className="sm:whitespace-nowrap">{agent}</span>,
  },
  {
    id: 'capability',
    header: text.capability,
    sortBy: ({ capability }) => capability,
    cell: ({ capability }) => <span className="mono">{capability}</span>,
  },
  {
    id: 'decision',
    header: text.decision,
    sortBy: ({ tier }) => tier,
    cell: (call) => (
      <span className="flex flex-wrap items-center gap-1">
        <TierBadge tier={call.tier} />
        {isChanged(call) && call.active_tier && (
          <span className="flex items-center gap-1 text-ink-soft">
            {text.before} <TierBadge tier={call.active_tier} />
          </span>
        )}
      </span>
    ),
  },
  { id: 'because', header: text.rule, wide: true, cell: (call) => <Because {...call} /> },
]

/** More rows than anybody reads; a narrower question shows the others. */
const shownMax = 500

const countOf = (results: readonly SimulatedCall[], tier: SimulatedCall['tier']): number =>
  results.filter((call) => call.tier === tier && call.barred === null).length

/** Agents that may, and by which rule. A bar that policy does not decide counts as refused. */
export const Simulated = ({
  simulation: { results, problems },
  drafted,
}: {
  readonly simulation: PolicySimulation
  readonly drafted: boolean
}) => {
  const [changedOnly, setChangedOnly] = useState(false)
  const rows = drafted && changedOnly ? results.filter(isChanged) : results
  const free = countOf(results, 'autonomous')
  const waiting = countOf(results, 'approval_required')
  return (
    <Section title={text.results}>
      <div className="grid grid-cols-1 gap-3">
        {problems.length > 0 && (
          <Problems
            problems={problems}
            placeOf={({ file, line, column }) => text.at(file, line, column)}
            wayTo={() => undefined}
          />
        )}
        <p role="status">
          {results.length === 0
            ? text.noResult
            : text.summary(free, waiting, results.length - free - waiting)}
        </p>
        {drafted && (
          <Checkbox
            label={text.changedOnly}
            checked={changedOnly}
            onChange={({ target }) => setChangedOnly(target.checked)}
          />
        )}
        {rows.length === 0 && results.length > 0 && (
          <p className="text-ink-soft">{text.nothingChanges}</p>
        )}
        {rows.length > 0 && (
          <DataTable
            caption={text.results}
            rows={rows.slice(0, shownMax)}
            columns={columns}
            keyOf={({ agent, capability }) => `${agent} ${capability}`}
            isMarked={isChanged}
          />
        )}
        {rows.length > shownMax && <p>{text.firstOnly(shownMax, rows.length)}</p>}
      </div>
    </Section>
  )
}
