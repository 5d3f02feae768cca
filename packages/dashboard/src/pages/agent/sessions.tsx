import type { AgentDetail, Approval, AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { approvalsText } from '../../messages/approvals.ts'
import { auditText } from '../../messages/audit.ts'
import { common } from '../../messages/common.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Filters, PeriodFilter, usePeriod } from '../../ui/filters.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { durationText, ExactTime, Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { EntryResult } from '../audit/entry-result.tsx'

type Session = AgentDetail['sessions'][number]

const lastedText = ({ created_at, ended_at }: Session) =>
  ended_at === null ? (
    <Badge tone="good">{text.open}</Badge>
  ) : (
    durationText(Date.parse(ended_at) - Date.parse(created_at))
  )

const OpenTimeline = ({ id }: { readonly id: string }) => {
  const [, change] = useFilters({ session: '' })
  return <Button onClick={() => change({ session: id })}>{text.showTimeline}</Button>
}

const columns: readonly Column<Session>[] = [
  {
    id: 'session',
    header: text.session,
    wide: true,
    cell: ({ session_id }) => <span className="mono">{session_id}</span>,
  },
  {
    id: 'transport',
    header: text.transport,
    cell: ({ client, transport }) => (
      <>
        {client !== null && (
          <p>
            <Visible text={`${client.name} ${client.version}`} />
          </p>
        )}
        <p className={client === null ? '' : 'text-ink-soft'}>
          {transport}
          {client?.protocol !== undefined && ` · ${text.mcp(client.protocol)}`}
        </p>
      </>
    ),
  },
  { id: 'began', header: text.began, cell: ({ created_at }) => <Time at={created_at} /> },
  { id: 'lasted', header: text.lasted, cell: lastedText },
  {
    id: 'calls',
    header: text.calls,
    align: 'right',
    cell: ({ invocations }) => numberText(invocations),
  },
  { id: 'timeline', header: '', cell: ({ session_id }) => <OpenTimeline id={session_id} /> },
]

/** The entry with which a call began to wait for a person. */
const isAsk = ({ result, detail }: AuditEntry): boolean =>
  result === 'pending' && detail?.['execution'] === undefined

/** Decision on a call that waited: by whom, and how long it took. */
const Wait = ({ approval }: { readonly approval: Approval }) => {
  const { id, status, requested_at, decided_at, decided_by } = approval
  const ms = decided_at === null ? 0 : Date.parse(decided_at) - Date.parse(requested_at)
  const by = decided_by === null ? common.person('system') : common.person(decided_by)
  return (
    <p>
      <Link to="/approvals/$id" params={{ id }} className="underline">
        {status === 'pending'
          ? text.stillWaits
          : text.waitedFor(approvalsText.status[status], by, durationText(ms))}
      </Link>
    </p>
  )
}

/** One thing that happened in a session; what took time says how long. */
const Step = ({
  entry,
  approval,
}: {
  readonly entry: AuditEntry
  readonly approval: Approval | undefined
}) => (
  <li className="relative border-l-2 border-line pb-3 pl-4 last:pb-0 before:absolute before:-left-[5px] before:top-2 before:size-2 before:rounded-full before:bg-line-strong">
    <p className="flex flex-wrap items-baseline gap-x-2">
      <ExactTime at={entry.timestamp} />
      <Link to="/audit/$id" params={{ id: entry.id }} className="font-medium underline">
        {entry.capability}
      </Link>
      <EntryResult entry={entry} />
      {entry.duration_ms !== null && (
        <span className="text-ink-soft">{durationText(entry.duration_ms)}</span>
      )}
      {entry.rule && (
        <span className="text-[0.867rem] text-ink-soft">
          {auditText.decisions[entry.policy_decision]} ·{' '}
          <span className="mono">
            <Visible text={`${entry.rule.file}:${entry.rule.line}`} />
          </span>
        </span>
      )}
    </p>
    <p className="mono text-ink-soft [overflow-wrap:anywhere]">
      <Visible text={describeEntry(entry)} />
    </p>
    {approval && isAsk(entry) && <Wait approval={approval} />}
  </li>
)

const stepsMax = 500
const approvalsMax = 1_000

/** Oldest first. That a call was about to run goes without saying once its outcome is there. */
function stepsOf(entries: readonly AuditEntry[]): readonly AuditEntry[] {
  const ended = new Set(entries.map(({ intent_id }) => intent_id))
  return entries.filter(({ id }) => !ended.has(id)).toReversed()
}

const Timeline = ({ agent, session }: { readonly agent: string; readonly session: string }) => {
  const approvals = useRead('listApprovals', { agent, status: 'all', limit: approvalsMax }).data
  const byId = new Map<string, Approval>(approvals?.approvals.map((one) => [one.id, one]))
  return (
    <Section title={text.timeline(session)}>
      <Loaded query={useRead('queryAudit', { session, limit: stepsMax })}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p>{text.noEntries}</p>
          ) : (
            <ol className="card p-4" aria-label={text.timelineHint}>
              {stepsOf(entries).map((entry) => (
                <Step key={entry.id} entry={entry} approval={byId.get(entry.approval_id ?? '')} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </Section>
  )
}

/** Sessions of an agent, and what happened in one of them. */
export const Sessions = ({ agent: { name, sessions } }: { readonly agent: AgentDetail }) => {
  const [{ session, range }, change] = useFilters({ session: '', range: 'all' })
  const { since = '' } = usePeriod(range)
  if (sessions.length === 0)
    return (
      <Empty icon="agents" title={text.noSessions}>
        {text.noSessionsNext}
      </Empty>
    )
  return (
    <>
      {session !== '' && <Timeline agent={name} session={session} />}
      <Section title={text.tabs.sessions}>
        <Filters>
          <PeriodFilter value={range} onChange={(next) => change({ range: next })} />
        </Filters>
        <DataTable
          caption={text.tabs.sessions}
          rows={sessions.filter(({ created_at }) => created_at >= since)}
          columns={columns}
          keyOf={({ session_id }) => session_id}
        />
      </Section>
    </>
  )
}
