import type { Approval } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { overviewText as text } from '../../messages/overview.ts'
import { Icon } from '../../ui/icon.tsx'
import { Section } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

const row =
  'flex min-h-11 flex-wrap items-baseline gap-x-2 px-3 py-2 no-underline -outline-offset-2 hover:bg-sunken'

const Leads = () => (
  <span className="self-center text-ink-soft">
    <Icon name="chevron" size={16} />
  </span>
)

const Oldest = ({ approval }: { readonly approval: Approval }) => (
  <Link to="/approvals" className={row}>
    <span className="text-ink-soft">{text.oldest}</span>
    <strong>{approval.agent}</strong>
    <span>{approval.capability}</span>
    <span className="mono min-w-0 grow text-ink-soft [overflow-wrap:anywhere]">
      <Visible text={describeCall(approval.capability, approval.effective_arguments)} />
    </span>
    <Time at={approval.requested_at} />
    <Leads />
  </Link>
)

/** How many of something wait, and where they are; nothing where none do. */
const Count = ({
  count,
  text: textOf,
  ...to
}: Pick<LinkProps, 'to' | 'search'> & {
  readonly count: number
  readonly text: (count: number) => string
}) =>
  count > 0 && (
    <Link {...to} className={row}>
      <span className="grow">{textOf(count)}</span>
      <Leads />
    </Link>
  )

/** Items that a person should look at: the oldest request, MCP servers that ask or wait, open alerts, writes that failed or are about to run. */
export const NeedsPerson = () => {
  const approvals = useRead('listApprovals').data?.approvals ?? []
  const questions = useRead('listQuestions').data?.questions.length ?? 0
  const alerts = useRead('listAlerts', { status: 'open' }).data?.total ?? 0
  const services = useRead('showProxy').data?.services ?? []
  const writes = services.reduce((sum, { buffered_writes }) => sum + buffered_writes, 0)
  const failed = services.reduce((sum, { dead_letters }) => sum + dead_letters, 0)
  const servers = (useRead('listUpstreams').data?.upstreams ?? []).filter(
    ({ status }) => status === 'needs_review' || status === 'needs_login',
  ).length
  const [oldest] = approvals.toSorted((a, b) => (a.requested_at < b.requested_at ? -1 : 1))
  return (
    <Section title={text.needs}>
      <div className="card divide-y divide-line">
        {oldest && <Oldest approval={oldest} />}
        <Count count={questions} text={text.questions} to="/approvals" />
        <Count count={servers} text={text.servers} to="/upstreams" />
        <Count count={alerts} text={text.alerts} to="/alerts" />
        <Count
          count={failed}
          text={text.failedWrites}
          to="/services"
          search={{ tab: 'writes', status: 'dead' }}
        />
        <Count count={writes} text={text.writes} to="/services" search={{ tab: 'writes' }} />
        {!oldest && questions + servers + alerts + failed + writes === 0 && (
          <p className="px-3 py-2.5 text-ink-soft">{text.nothingNeeds}</p>
        )}
      </div>
    </Section>
  )
}
