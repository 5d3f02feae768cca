import type { PolicySimulation, RuleRef, SimulatedCall } from '@gatehouse/contract'
import { useState } from 'react'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Visible } from '../../ui/visible.tsx'
import { Problems } from './problems.tsx'
import { TierBadge } from './tier.tsx'

export const ruleText = ({ file, line, match }: RuleRef): string => `${file}:${line} ${match}`

const Trace = ({ steps }: { readonly steps: NonNullable<SimulatedCall['steps']> }) => (
  <details className="mt-1">
    <summary className="min-h-11 py-2 text-ink-soft sm:min-h-8 sm:py-1">{text.trace}</summary>
    <ol className="grid grid-cols-1 gap-1 pl-1">
      {steps.map(({ rule, outcome, detail }, at) => (
        // A rule may be looked at twice; steps have no identity but their place.
        <li key={`${at}`}>
          <span className="mono">{ruleText(rule)}</span>{' '}
          <strong className="font-medium">
            {(text.outcome as Readonly<Record<string, string>>)[outcome] ?? outcome}
          </strong>
          {detail !== undefined && (
            <span className="text-ink-soft">
              {' · '}
              <Visible text={detail} />
            </span>
          )}
        </li>
      ))}
    </ol>
  </details>
)

const Because = ({ decision, steps, arguments_fit, barred }: SimulatedCall) => (
  <>
    {barred !== null && <Badge tone="bad">{text.barred[barred]}</Badge>}
    {!arguments_fit && <Badge tone="warn">{text.unfit}</Badge>}
    {decision && (
      <p>
        {decision.rule ? <span className="mono">{ruleText(decision.rule)}</span> : text.noRule}
        {decision.reason !== null && (
          <>
            {' · '}
            <Visible text={decision.reason} />
          </>
        )}
      </p>
    )}
    {steps && steps.length > 0 && <Trace steps={steps} />}
  </>
)

const isChanged = ({ tier, active_tier }: SimulatedCall): boolean =>
  active_tier !== null && active_tier !== tier

const columns: readonly Column<SimulatedCall>[] = [
  {
    id: 'agent',
    header: common.agent,
    sortBy: ({ agent }) => agent,
    cell: ({ agent }) => agent,
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
