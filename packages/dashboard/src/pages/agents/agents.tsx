import type { Agent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { AgentActions, AgentStatus } from './agent-actions.tsx'
import { CreateDialog } from './create-dialog.tsx'

const facts: readonly Column<Agent>[] = [
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
    cell: ({ last_connected }) =>
      last_connected === null ? common.never : <Time at={last_connected} />,
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

export const AgentsPage = () => {
  const [creating, setCreating] = useState(false)
  const mayManage = useMay('agents.manage')
  const columns = useMemo(
    () =>
      mayManage
        ? [
            ...facts,
            { id: 'actions', header: '', cell: (agent: Agent) => <AgentActions agent={agent} /> },
          ]
        : facts,
    [mayManage],
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
            <DataTable
              caption={text.caption}
              rows={agents}
              columns={columns}
              keyOf={({ name }) => name}
              sort={{ id: 'name' }}
            />
          )
        }
      </Loaded>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}
