import type { AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { Link } from '@tanstack/react-router'
import { common } from '../../messages/common.ts'
import { ExactTime } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { EntryResult } from './entry-result.tsx'

/** One entry, in a line where its place is wide enough; it leads to all that the log has of it. */
export const EntryRow = ({ entry }: { readonly entry: AuditEntry }) => {
  const by = common.person(entry.actor).replace(/^agent:/, '')
  return (
    <div className="@container">
      <Link
        to="/audit/$id"
        params={{ id: entry.id }}
        className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 gap-y-0.5 px-3 py-2 no-underline -outline-offset-2 hover:bg-sunken @2xl:grid-cols-[8.5rem_9rem_1fr_auto_7rem]"
      >
        <span className="text-ink-soft @max-2xl:order-3">
          <ExactTime at={entry.timestamp} />
        </span>
        <span className="truncate @max-2xl:order-4 @max-2xl:text-right">
          <Visible text={entry.agent || by} />
        </span>
        <span className="line-clamp-2 min-w-0 [overflow-wrap:anywhere] @max-2xl:order-1">
          <span className="font-medium">{entry.capability}</span>{' '}
          <span className="mono text-ink-soft">
            <Visible text={describeEntry(entry)} />
          </span>
        </span>
        <span className="@max-2xl:order-2">
          <EntryResult entry={entry} />
        </span>
        <span className="truncate text-right text-ink-soft @max-2xl:hidden">
          {entry.agent !== '' && by !== entry.agent && <Visible text={by} />}
        </span>
      </Link>
    </div>
  )
}
