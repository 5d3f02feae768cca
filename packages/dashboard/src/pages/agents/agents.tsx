import type { ListedAgent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Filters, filtersSet } from '../../ui/filters.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Visible } from '../../ui/visible.tsx'
import { AgentActions, AgentStatus } from './agent-actions.tsx'
import { useAgentDialogs } from './agent-dialogs.tsx'
import { CreateDialog } from './create-dialog.tsx'

/** Client that connected last, as it calls itself, and what it speaks. */
const LastClient = ({
  session: { client, transport },
}: {
  readonly session: NonNullable<ListedAgent['last_session']>
}) => (
  <p className="text-ink-soft">
    {client && <Visible text={`${client.name} ${client.version} · `} />}
    {client?.protocol === undefined ? transport : text.mcp(client.protocol)}
  </p>
)

const facts: readonly Column<ListedAgent>[] = [
  {
    id: 'name',
    header: text.name,
    wide: true,
    sortBy: ({ name }) => name,
    cell: ({ name, purpose }) => (
      <>
        <Link to="/agents/$name" params={{ name }} className="font-medium underline">
          {name}
        </Link>
        {purpose !== '' && (
          <p className="line-clamp-2 text-ink-soft">
            <Visible text={purpose} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'status',
    header: text.statusHeader,
    sortBy: ({ status }) => status,
    cell: ({ status }) => <AgentStatus status={status} />,
  },
  {
    id: 'connected',
    header: text.lastConnected,
    sortBy: ({ last_connected }) => last_connected ?? '',
    cell: ({ last_connected, last_session }) =>
      last_connected === null ? (
        common.never
      ) : (
        <>
          <Time at={last_connected} />
          {last_session && <LastClient session={last_session} />}
        </>
      ),
  },
  {
    id: 'token',
    header: text.tokenMade,
    sortBy: ({ token_created_at }) => token_created_at,
    cell: ({ status, token_created_at }) =>
      status === 'revoked' ? '–' : <Time at={token_created_at} />,
  },
  {
    id: 'calls',
    header: text.calls,
    align: 'right',
    sortBy: ({ total_invocations }) => total_invocations,
    cell: ({ total_invocations }) => (
      <span className="figure">{numberText(total_invocations)}</span>
    ),
  },
]

/** Fewer are seen at a glance. */
const filterFrom = 8

const isFound = (agent: ListedAgent, words: string, status: string): boolean => {
  const all =
    `${agent.name} ${agent.purpose} ${agent.last_session?.client?.name ?? ''}`.toLowerCase()
  return (
    (status === '' || agent.status === status) &&
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => all.includes(word))
  )
}

const none = { words: '', status: '' }

export const AgentsPage = () => {
  const [filters, change] = useFilters(none)
  const { words, status } = filters
  const [creating, setCreating] = useState(false)
  const { dialogs, open } = useAgentDialogs()
  const mayManage = useMay('agents.manage')
  const columns = useMemo(
    () =>
      mayManage
        ? [
            ...facts,
            {
              id: 'actions',
              header: '',
              cell: (agent: ListedAgent) => <AgentActions agent={agent} open={open} />,
            },
          ]
        : facts,
    [mayManage, open],
  )
  const create = mayManage && (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      {text.create}
    </Button>
  )
  return (
    <Page title={text.title} actions={create}>
      <Loaded query={useRead('listAgents')}>
        {({ agents }) =>
          agents.length === 0 ? (
            <Empty icon="agents" title={text.none}>
              {text.noneNext}
            </Empty>
          ) : (
            <>
              {agents.length > filterFrom && (
                <Filters set={filtersSet(filters, none)}>
                  <TextField
                    label={text.find}
                    type="search"
                    value={words}
                    onChange={({ target }) => change({ words: target.value })}
                  />
                  <SelectField
                    label={text.statusHeader}
                    value={status}
                    onChange={({ target }) => change({ status: target.value })}
                    options={[
                      { value: '', text: common.any },
                      ...Object.entries(text.status).map(([value, name]) => ({
                        value,
                        text: name,
                      })),
                    ]}
                  />
                </Filters>
              )}
              <DataTable
                caption={text.caption}
                rows={agents.filter((agent) => isFound(agent, words, status))}
                columns={columns}
                keyOf={({ name }) => name}
                sort={{ id: 'name' }}
              />
            </>
          )
        }
      </Loaded>
      {dialogs}
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}
