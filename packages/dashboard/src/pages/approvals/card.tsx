import type { Approval } from '@gatehouse/contract'
import type { ReactNode } from 'react'
import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Decision } from './decision.tsx'
import { FewerQuestions } from './fewer-questions.tsx'
import type { Group } from './groups.ts'
import { Outcome } from './outcome.tsx'
import { Heading, RequestView } from './request.tsx'

const look = 'card grid gap-3 p-4 scroll-mt-20 focus-visible:outline-2'

/** A request that waits, or several that are the same. */
export const WaitingCard = ({
  group: { key, first, all },
  aside,
  onDecided,
}: {
  readonly group: Group
  readonly aside?: ReactNode
  readonly onDecided: (ids: readonly string[]) => void
}) => {
  const mayDecide = useMay('approvals.decide')
  const [, ...others] = all
  return (
    <article
      className={look}
      data-id={key}
      tabIndex={-1}
      aria-label={`${first.agent}: ${first.capability}`}
    >
      <RequestView
        approval={first}
        aside={
          <>
            {all.length > 1 && <Badge tone="accent">{text.identical(all.length)}</Badge>}
            {aside}
          </>
        }
      />
      {mayDecide && <Decision approvals={[first, ...others]} onDecided={onDecided} />}
      <FewerQuestions approval={first} />
    </article>
  )
}

/** A request after its decision: it stays until its outcome is there, and as long as the person wants. */
export const KeptCard = ({
  id,
  isLast,
  onDismiss,
}: {
  readonly id: string
  /** Whether it is the newest of those that are kept: a rule for all of them is offered once. */
  readonly isLast: boolean
  readonly onDismiss: () => void
}) => (
  <article className={look} data-id={id} tabIndex={-1}>
    <Loaded query={useRead('showApproval', { id })}>
      {(approval: Approval) => (
        <>
          <div className="flex flex-wrap items-start gap-3">
            <div className="grid min-w-0 grow gap-2">
              <Heading approval={approval} />
              <Outcome approval={approval} />
            </div>
            <Button tone="quiet" icon="close" onClick={onDismiss}>
              {common.dismiss}
            </Button>
          </div>
          {isLast && <FewerQuestions approval={approval} />}
        </>
      )}
    </Loaded>
  </article>
)
