import type { UnlistedEntries } from '@gatehouse/contract'
import { common } from '../messages/common.ts'
import { Notice } from './notice.tsx'
import { Visible } from './visible.tsx'

/** Entries of the audit log that are there, and that what is shown here lacks. */
export const NotListed = ({
  entries = [],
}: {
  readonly entries: readonly UnlistedEntries[] | undefined
}) =>
  entries.length > 0 && (
    <div className="mb-4 grid gap-2">
      {entries.map(({ log, reason, remedy }) => (
        <Notice key={log} tone="warn" role="status">
          <Visible text={common.notListed(log, reason, remedy)} />
        </Notice>
      ))}
    </div>
  )
