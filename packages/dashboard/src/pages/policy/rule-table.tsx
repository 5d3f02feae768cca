import type { ActiveRule, PolicyProblem } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Visible } from '../../ui/visible.tsx'
import type { PolicyFileView } from './drafts.ts'
import { PlaceButton } from './problems.tsx'
import { TierBadge } from './tier.tsx'

export type GoTo = (file: PolicyFileView, line: number) => void

/** A rule of a file with what was found about it. */
export type RuleRow = {
  readonly at: number
  readonly rule: ActiveRule
  readonly file: PolicyFileView
  readonly warnings: readonly PolicyProblem[]
}

const Marks = ({ rule: { floor, critical, notify } }: RuleRow) => (
  <>
    {floor && <Badge>{text.floor}</Badge>}
    {critical && <Badge>{text.critical}</Badge>}
    {notify && <Badge>{text.notifies}</Badge>}
  </>
)

/** Calls that a rule matches and why, with what was found about it. */
const RuleText = ({ rule: { match, when, network, reason }, warnings }: RuleRow) => (
  <div className="grid grid-cols-1 gap-0.5">
    <p>
      <span className="mono font-medium">{match}</span>
      {when !== null && (
        <>
          <span className="text-ink-soft">{` ${text.when} `}</span>
          <code className="mono">
            <Visible text={when} />
          </code>
        </>
      )}
    </p>
    {network.length > 0 && <p className="text-ink-soft">{text.network(network.join(', '))}</p>}
    {reason !== null && (
      <p className="text-ink-soft">
        <Visible text={reason} />
      </p>
    )}
    {warnings.map(({ message }) => (
      <p key={message} className="text-warn">
        <Visible text={message} />
      </p>
    ))}
  </div>
)

const columnsOf = (go: GoTo): readonly Column<RuleRow>[] => [
  {
    id: 'decision',
    header: text.decision,
    cell: (row) => (
      <span className="flex flex-wrap gap-1 sm:w-44">
        <TierBadge tier={row.rule.tier} />
        <Marks {...row} />
      </span>
    ),
  },
  { id: 'rule', header: text.rule, wide: true, cell: (row) => <RuleText {...row} /> },
  {
    id: 'place',
    header: text.place,
    // A target of a finger's size is higher than the line it stands in.
    cell: ({ file, rule: { line } }) => (
      <div className="max-sm:-my-3">
        <PlaceButton
          text={`${file.file}:${line}`}
          label={text.openInEditor(file.file, line)}
          onGo={file.layer === 'system' ? undefined : () => go(file, line)}
        />
      </div>
    ),
  },
]

export const RuleTable = ({
  caption,
  rows,
  go,
}: {
  readonly caption: string
  readonly rows: readonly RuleRow[]
  readonly go: GoTo
}) => (
  <DataTable
    caption={caption}
    rows={rows}
    columns={columnsOf(go)}
    keyOf={({ at }) => String(at)}
    isMarked={({ warnings }) => warnings.length > 0}
  />
)
