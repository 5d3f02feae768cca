import type { ReplayedAgent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { policyText as text } from '../../messages/policy.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { ruleText } from './because.tsx'
import { TierBadge } from './tier.tsx'
import type { ReplayResult } from './use-replay.ts'

type Change = ReplayedAgent['changes'][number]

const columns: readonly Column<Change>[] = [
  {
    id: 'capability',
    header: text.capability,
    cell: ({ capability }) => <span className="mono">{capability}</span>,
  },
  { id: 'calls', header: text.calls, align: 'right', cell: ({ calls }) => numberText(calls) },
  { id: 'from', header: text.from, cell: ({ from }) => <TierBadge tier={from} /> },
  { id: 'to', header: text.to, cell: ({ to }) => <TierBadge tier={to} /> },
  {
    id: 'rule',
    header: text.rule,
    wide: true,
    cell: ({ rule }) => (rule ? <span className="mono">{ruleText(rule)}</span> : text.noRule),
  },
  {
    id: 'examples',
    header: text.examples,
    cell: ({ examples }) => (
      <ul className="grid grid-cols-1 gap-0.5">
        {examples.map((id, at) => (
          <li key={id}>
            <Link to="/audit/$id" params={{ id }} className="whitespace-nowrap underline">
              {text.example(at + 1)}
            </Link>
          </li>
        ))}
      </ul>
    ),
  },
]

const OfAgent = ({ agent, calls, changed, cannot_say, changes }: ReplayedAgent) => (
  <Section title={agent}>
    <p className="mb-2">{text.replayCounts(calls, changed)}</p>
    {cannot_say > 0 && <p className="mb-2 text-ink-soft">{text.cannotSay(cannot_say)}</p>}
    {changes.length > 0 && (
      <DataTable
        caption={agent}
        rows={changes}
        columns={columns}
        keyOf={({ capability, from, to }) => `${capability} ${from} ${to}`}
      />
    )}
  </Section>
)

/** The agents for which the draft would have changed something, or of whose calls it can't be told, come first. */
export const Replayed = ({
  result: { since, until, calls, changed, cannot_say, agents },
}: {
  readonly result: ReplayResult
}) => (
  <div role="region" aria-label={text.results}>
    <Facts
      items={[
        [
          text.period,
          <>
            <ExactTime at={since} /> – <ExactTime at={until} />
          </>,
        ],
        [text.calls, numberText(calls)],
        [text.changed, numberText(changed)],
        [text.cannotSayShort, numberText(cannot_say)],
      ]}
    />
    {calls === 0 && <p className="mt-3 text-ink-soft">{text.noCalls}</p>}
    {calls > 0 && changed === 0 && (
      <div className="mt-3">
        <Notice tone={cannot_say === 0 ? 'good' : 'info'}>
          {cannot_say === 0 ? text.nothingOtherwise : text.cannotSay(cannot_say)}
        </Notice>
      </div>
    )}
    {agents
      .toSorted((a, b) => b.changed - a.changed)
      .map((one) => (
        <OfAgent key={one.agent} {...one} />
      ))}
  </div>
)
