import type { Approval } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { common } from '../../messages/common.ts'
import { Badge } from '../../ui/badge.tsx'
import { statusTones } from './outcome.tsx'

const shownMax = 5

/** Decisions on the same agent and capability, the newest first; more than are shown. */
export const useEarlier = ({ agent, capability }: Approval) =>
  useRead('listApprovals', { status: 'decided', agent, capability, limit: 2 * shownMax })

/** The last of them. A request that is decided itself is none of those before it. */
export const Earlier = ({ approval }: { readonly approval: Approval }) => {
  const { data } = useEarlier(approval)
  // The line is there from the start: what comes later moves no button away from under a finger.
  if (!data) return <p className="text-ink-soft">{text.earlierLoading}</p>
  const earlier = data.approvals.filter((one) => one.id !== approval.id).slice(0, shownMax)
  if (earlier.length === 0) return <p className="text-ink-soft">{text.firstOfItsKind}</p>
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <span className="text-ink-soft">{text.earlier(earlier.length)}</span>
      {earlier.map((one) => (
        <Link key={one.id} to="/approvals/$id" params={{ id: one.id }} className="max-sm:py-2">
          <Badge tone={statusTones[one.status]}>
            {one.decided_by === null || one.status === 'expired'
              ? text.status[one.status]
              : text.decidedBy(text.status[one.status], common.person(one.decided_by))}
          </Badge>
        </Link>
      ))}
    </div>
  )
}
