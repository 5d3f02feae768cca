import type { ServerNode } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { nodesText as text } from '../../messages/nodes.ts'
import { useMay } from '../../session.tsx'
import { actAndSay } from '../../ui/act-and-say.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmName } from '../../ui/dialog.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'
import { InviteDialog } from './invite-dialog.tsx'

const tones: Readonly<Record<ServerNode['status'], BadgeTone>> = {
  active: 'good',
  draining: 'warn',
  stopped: 'neutral',
  missing: 'bad',
}

const refresh = () => queryClient.invalidateQueries({ queryKey: ['listNodes'] })

const NodeActions = ({ node: { name, status } }: { readonly node: ServerNode }) => {
  const [forgetting, setForgetting] = useState(false)
  const act = (work: () => Promise<unknown>, said: string) => () =>
    actAndSay(async () => {
      await work()
      await refresh()
      return said
    })
  const items: readonly MenuItem[] = [
    ...(status === 'active'
      ? [{ text: text.drain, onSelect: act(() => api.drainNode({ name }), text.drained(name)) }]
      : []),
    ...(status === 'draining'
      ? [{ text: text.resume, onSelect: act(() => api.resumeNode({ name }), text.resumed(name)) }]
      : []),
    ...(status === 'stopped' || status === 'missing'
      ? [{ text: text.forget, danger: true, onSelect: () => setForgetting(true) }]
      : []),
  ]
  return (
    <>
      <Menu
        trigger={
          <Button icon="more" aria-label={common.actionsFor(name)}>
            <span className="sm:sr-only">{common.actions}</span>
          </Button>
        }
        items={items}
      />
      {forgetting && (
        <ConfirmName
          title={text.forgetTitle(name)}
          name={name}
          submit={text.forget}
          onClose={() => setForgetting(false)}
          onConfirm={async () => {
            await api.forgetNode({ name })
            await refresh()
            setForgetting(false)
          }}
        >
          {text.forgetIntro}
        </ConfirmName>
      )}
    </>
  )
}

const columnsOf = (policyHere: string | null): readonly Column<ServerNode>[] => [
  {
    id: 'name',
    header: text.node,
    wide: true,
    sortBy: ({ name }) => name,
    cell: ({ name, answering, place, address, log_finding, unreachable }) => (
      <>
        <span className="font-medium">{name}</span>
        {answering && <span className="text-ink-soft"> ({text.this})</span>}
        <p className="mono text-ink-soft">{address ?? '–'}</p>
        {unreachable !== null && (
          <p className="text-warn">
            <Visible text={text.unreachable(name, unreachable)} />
          </p>
        )}
        <p className="mono text-ink-soft">{place}</p>
        {log_finding && (
          <p className="text-bad">
            <Visible text={text.found(log_finding)} />
          </p>
        )}
      </>
    ),
  },
  {
    id: 'status',
    header: text.state,
    cell: ({ status }) => <Badge tone={tones[status]}>{text.status[status]}</Badge>,
  },
  { id: 'version', header: text.version, cell: ({ version }) => version },
  {
    id: 'policy',
    header: text.policy,
    cell: ({ policy_version, status }) => (
      <>
        <span className="mono">{policy_version?.slice(0, 12) ?? '–'}</span>
        {policy_version !== policyHere && status !== 'stopped' && (
          <p>
            <Badge tone="warn">{text.policyDiffers}</Badge>
          </p>
        )}
      </>
    ),
  },
  {
    id: 'work',
    header: text.work,
    cell: ({ sessions, processes }) => text.workText(sessions, processes),
  },
  {
    id: 'site',
    header: text.site,
    cell: ({ site }) => <span className="mono">{site ?? '–'}</span>,
  },
  { id: 'seen', header: text.seen, cell: ({ seen_at }) => <Time at={seen_at} /> },
]

/** Servers of this installation, and what each of them runs. */
export const Nodes = () => {
  const mayManage = useMay('nodes.manage')
  const [inviting, setInviting] = useState(false)
  return (
    <Loaded query={useRead('listNodes')}>
      {({ nodes, shared, workspaces }) =>
        shared ? (
          <Section
            title={text.title}
            actions={
              mayManage && (
                <Button icon="plus" onClick={() => setInviting(true)}>
                  {text.invite}
                </Button>
              )
            }
          >
            <p className="mb-3 text-ink-soft">
              {text.intro} {text.workspaces[workspaces]}
            </p>
            <DataTable
              caption={text.title}
              rows={nodes}
              keyOf={({ name }) => name}
              columns={[
                ...columnsOf(nodes.find(({ answering }) => answering)?.policy_version ?? null),
                ...(mayManage
                  ? [
                      {
                        id: 'actions',
                        header: '',
                        cell: (node: ServerNode) => <NodeActions node={node} />,
                      },
                    ]
                  : []),
              ]}
            />
            {inviting && <InviteDialog onClose={() => setInviting(false)} />}
          </Section>
        ) : (
          <Empty icon="services" title={text.one}>
            {text.oneNext}
          </Empty>
        )
      }
    </Loaded>
  )
}
