import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { overviewText as text } from '../../messages/overview.ts'
import { Section } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

const row =
  'flex min-h-11 flex-wrap items-baseline gap-x-2 px-3 py-2 no-underline -outline-offset-2 hover:bg-sunken'

const Oldest = ({ approval }: { readonly approval: Approval }) => (
  <Link to="/approvals" className={row}>
    <span className="text-ink-soft">{text.oldest}</span>
    <strong>{approval.agent}</strong>
    <span>{approval.capability}</span>
    <span className="mono min-w-0 grow text-ink-soft [overflow-wrap:anywhere]">
      <Visible text={describeCall(approval.capability, approval.effective_arguments)} />
    </span>
    <Time at={approval.requested_at} />
  </Link>
)

/** What a person should look at: the oldest request, questions of MCP servers, open alerts, writes about to run. */
export const NeedsPerson = () => {
  const approvals = useRead('listApprovals').data?.approvals ?? []
  const questions = useRead('listQuestions').data?.questions.length ?? 0
  const alerts = useRead('listAlerts', { status: 'open' }).data?.total ?? 0
  const services = useRead('showProxy').data?.services ?? []
  const writes = services.reduce((sum, { buffered_writes }) => sum + buffered_writes, 0)
  const [oldest] = approvals.toSorted((a, b) => (a.requested_at < b.requested_at ? -1 : 1))
  const nothing = !oldest && questions === 0 && alerts === 0 && writes === 0
  return (
    <Section title={text.needs}>
      <div className="card divide-y divide-line">
        {oldest && <Oldest approval={oldest} />}
        {questions > 0 && (
          <Link to="/approvals" className={row}>
            {text.questions(questions)}
          </Link>
        )}
        {alerts > 0 && (
          <Link to="/alerts" className={row}>
            {text.alerts(alerts)}
          </Link>
        )}
        {writes > 0 && (
          <Link to="/services" search={{ tab: 'writes' }} className={row}>
            {text.writes(writes)}
          </Link>
        )}
        {nothing && <p className="px-3 py-2.5 text-ink-soft">{text.nothingNeeds}</p>}
      </div>
    </Section>
  )
}
