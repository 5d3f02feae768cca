import type { AgentDetail, AgentMove } from '@gatehouse/contract'
import { Link, useParams } from '@tanstack/react-router'
import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { AgentActions, AgentStatus } from '../agents/agent-actions.tsx'
import { useAgentDialogs } from '../agents/agent-dialogs.tsx'
import { Layers } from './layers.tsx'
import { Schedules } from './schedules.tsx'
import { Sessions } from './sessions.tsx'
import { Statistics } from './statistics.tsx'

const List = ({ items, empty }: { readonly items: readonly string[]; readonly empty: string }) =>
  items.length === 0 ? (
    empty
  ) : (
    <ul className="mono">
      {items.map((item) => (
        <li key={item}>
          <Visible text={item} />
        </li>
      ))}
    </ul>
  )

/** Next step of a person, while the workspace is to be brought to another node. */
const Move = ({ move: { from, to, ready, set_aside } }: { readonly move: AgentMove }) =>
  ready ? (
    <>
      <p>{text.moveCopy(from.node, to.node)}</p>
      <p className="mono">{from.folder}</p>
      <p className="mono">{to.folder}</p>
      <p>{text.moveThen(to.node)}</p>
      {set_aside !== null && <p>{text.moveAside(set_aside)}</p>}
    </>
  ) : (
    text.moveWaits(to.node)
  )

const Record = ({ agent }: { readonly agent: AgentDetail }) => (
  <div className="card p-4">
    <Facts
      items={[
        [text.purpose, <Visible key="purpose" text={agent.purpose || text.noPurpose} />],
        [text.mode, text.modes[agent.approvals]],
        [
          text.workspace,
          <span key="workspace" className="mono">
            {agent.workspace}
          </span>,
        ],
        ...(agent.move ? [[text.moves, <Move key="move" move={agent.move} />] as const] : []),
        [
          text.mounts,
          <List
            key="mounts"
            empty={text.noMounts}
            items={agent.mounts.map(
              ({ path, read_only }) => `${path} (${read_only ? text.readOnly : text.readWrite})`,
            )}
          />,
        ],
        [text.tools, <List key="tools" items={agent.tools} empty={text.noTools} />],
        [
          text.ownLimits,
          <List
            key="limits"
            items={agent.limits.map(({ match, limit, window }) => `${match}=${limit}/${window}`)}
            empty={common.none}
          />,
        ],
        [
          text.toolList,
          text.toolListText(
            agent.tool_list.offered,
            agent.tool_list.callable,
            numberText(agent.tool_list.tokens_estimate),
          ),
        ],
        [
          text.lastConnected,
          agent.last_connected === null ? (
            common.never
          ) : (
            <Time key="last" at={agent.last_connected} />
          ),
        ],
        [text.calls, numberText(agent.total_invocations)],
        [text.created, <Time key="created" at={agent.created_at} />],
        [text.tokenMade, <Time key="made" at={agent.token_created_at} />],
        [
          text.fingerprint,
          <span key="token" className="mono">
            {agent.token_fingerprint}
          </span>,
        ],
      ]}
    />
  </div>
)

const elsewhere = (name: string) => [
  { to: '/approvals', search: { tab: 'decided', agent: name }, label: text.toApprovals },
  { to: '/activity', search: { agent: name }, label: text.toActivity },
  { to: '/audit', search: { agent: name }, label: text.toAudit },
  { to: '/state', search: { agent: name }, label: text.toState },
  { to: '/policy', search: { tab: 'simulate', agent: name }, label: text.toSimulate },
]

export const AgentPage = () => {
  const { name = '' } = useParams({ strict: false })
  const [{ tab }, , open] = useFilters({ tab: 'overview' })
  const { dialogs, open: openDialog } = useAgentDialogs()
  const mayManage = useMay('agents.manage')
  return (
    <Loaded query={useRead('showAgent', { name })}>
      {(agent) => (
        <Page
          title={agent.name}
          aside={<AgentStatus status={agent.status} />}
          actions={
            <>
              <LinkButton to="/agents">{text.all}</LinkButton>
              {mayManage && <AgentActions agent={agent} open={openDialog} />}
            </>
          }
        >
          <Tabs
            label={text.tabsLabel}
            value={tab}
            onChange={(next) => open({ tab: next })}
            tabs={Object.entries(text.tabs).map(([value, label]) => ({ value, text: label }))}
          >
            <TabPanel value="overview">
              <Record agent={agent} />
              <Section title={text.jump}>
                <ul className="flex flex-wrap gap-x-5">
                  {elsewhere(name).map(({ to, search, label }) => (
                    <li key={label}>
                      <Link
                        to={to}
                        search={search}
                        className="inline-block py-2.5 underline sm:py-1"
                      >
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </Section>
            </TabPanel>
            <TabPanel value="sessions">
              <Sessions agent={agent} />
            </TabPanel>
            <TabPanel value="statistics">
              <Statistics stats={agent.stats} />
            </TabPanel>
            <TabPanel value="policy">
              <Layers agent={agent.name} />
            </TabPanel>
            <TabPanel value="schedules">
              <Schedules agent={agent.name} />
            </TabPanel>
          </Tabs>
          {dialogs}
        </Page>
      )}
    </Loaded>
  )
}
