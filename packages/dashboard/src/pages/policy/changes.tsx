import type { AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

const shownMax = 10

const columns: readonly Column<AuditEntry>[] = [
  { id: 'when', header: text.changedWhen, cell: ({ timestamp }) => <Time at={timestamp} /> },
  {
    id: 'by',
    header: text.changedBy,
    cell: ({ actor }) => <Visible text={common.person(actor)} />,
  },
  {
    id: 'what',
    header: text.changedWhat,
    wide: true,
    cell: (entry) => (
      <>
        <Link to="/audit/$id" params={{ id: entry.id }} className="font-medium underline">
          {entry.capability}
        </Link>{' '}
        <span className="mono text-ink-soft">
          <Visible text={describeEntry(entry)} />
        </span>
      </>
    ),
  },
]

/** The last changes of policy: by whom, when, and to which file. */
export const Changes = () => (
  <Section
    title={text.changes}
    actions={
      <Link
        to="/audit"
        search={{ capability: 'policy.*' }}
        className="inline-block py-2.5 underline sm:py-1"
      >
        {text.allChanges}
      </Link>
    }
  >
    <Loaded query={useRead('queryAudit', { capability: 'policy.*', limit: shownMax })}>
      {({ entries }) =>
        entries.length === 0 ? (
          <p className="text-ink-soft">{text.noChanges}</p>
        ) : (
          <DataTable
            caption={text.changes}
            rows={entries}
            columns={columns}
            keyOf={({ id }) => id}
          />
        )
      }
    </Loaded>
  </Section>
)
