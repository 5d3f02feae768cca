import { useParams } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { WaitingCard } from './card.tsx'
import { FewerQuestions } from './fewer-questions.tsx'
import { Outcome } from './outcome.tsx'
import { RequestView } from './request.tsx'

/** One request: where a notice leads. It is decided here, and stays with its outcome. */
export const ApprovalPage = () => {
  const { id = '' } = useParams({ strict: false })
  return (
    <Page title={text.request} actions={<LinkButton to="/approvals">{text.back}</LinkButton>}>
      <Loaded query={useRead('showApproval', { id })}>
        {(approval) =>
          approval.status === 'pending' ? (
            <WaitingCard
              group={{ key: approval.id, first: approval, all: [approval] }}
              onDecided={() => undefined}
            />
          ) : (
            <article className="card grid gap-4 p-4" data-id={approval.id}>
              <Outcome approval={approval} />
              <RequestView approval={approval} />
              <FewerQuestions approval={approval} />
            </article>
          )
        }
      </Loaded>
    </Page>
  )
}
