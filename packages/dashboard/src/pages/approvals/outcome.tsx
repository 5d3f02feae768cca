import type { Approval, ExecutionState } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { approvalsText as text } from '../../messages/approvals.ts'
import { common } from '../../messages/common.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Json } from '../../ui/code.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { HeldWrite } from './held-write.tsx'

export const statusTones: Readonly<Record<Approval['status'], BadgeTone>> = {
  pending: 'warn',
  approved: 'good',
  rejected: 'bad',
  expired: 'neutral',
  cancelled: 'neutral',
}

const executionTones: Readonly<Record<ExecutionState, BadgeTone>> = {
  waiting: 'neutral',
  running: 'accent',
  succeeded: 'good',
  failed: 'bad',
  refused: 'bad',
  interrupted: 'warn',
}

/** A request whose arguments a person changed: what ran is another one. */
const isReplaced = ({ id, status, edit }: Approval): boolean =>
  status === 'approved' && edit?.original === id

/** The decision and what became of it, in words. */
export const States = ({ approval }: { readonly approval: Approval }) => (
  <span className="inline-flex flex-wrap gap-1.5">
    <Badge tone={statusTones[approval.status]}>
      {isReplaced(approval) ? text.approvedEdited : text.status[approval.status]}
    </Badge>
    {approval.status === 'approved' && !isReplaced(approval) && (
      <Badge tone={executionTones[approval.execution.state]}>
        {text.execution[approval.execution.state]}
      </Badge>
    )}
  </span>
)

const EditedLink = ({ approval }: { readonly approval: Approval }) => {
  const { edit } = approval
  if (!edit) return null
  const isOriginal = edit.original === approval.id
  const other = isOriginal ? edit.request : edit.original
  return (
    <p className="text-ink-soft">
      {isOriginal ? text.editedHere : text.edited} {isOriginal ? text.editedTo : text.editedFrom}{' '}
      <Link to="/approvals/$id" params={{ id: other }} className="mono underline">
        {other}
      </Link>
      .
    </p>
  )
}

/** How a decided request stands: by whom, why, and what ran or came back. */
export const Outcome = ({ approval }: { readonly approval: Approval }) => {
  const { decided_by, decided_at, decision_reason, execution } = approval
  const result = isReplaced(approval) ? null : execution.result
  return (
    <div role="status" className="grid gap-2">
      <p className="flex flex-wrap items-center gap-2">
        <States approval={approval} />
        {decided_by !== null && (
          <span>
            {text.decidedBy(text.status[approval.status], common.person(decided_by))}
            {decided_at !== null && (
              <>
                {' '}
                <Time at={decided_at} />
              </>
            )}
          </span>
        )}
      </p>
      {decision_reason !== null && (
        <p>
          “<Visible text={decision_reason} />”
        </p>
      )}
      <EditedLink approval={approval} />
      {result?.success === true && typeof result.data['write_id'] === 'string' && (
        <HeldWrite id={result.data['write_id']} />
      )}
      {result?.success === false && (
        <p className="text-bad">
          <Visible text={result.error.message} />
        </p>
      )}
      {result?.success === true && (
        <details>
          <summary className="py-1 text-ink-soft">{text.result}</summary>
          <Json value={result.data} label={text.result} />
        </details>
      )}
    </div>
  )
}
