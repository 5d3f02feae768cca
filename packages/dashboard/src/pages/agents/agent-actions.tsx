import type { Agent, ServerNode } from '@gatehouse/contract'
import { type ReactNode, useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { actAndSay } from '../../ui/act-and-say.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmName, FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { announce } from '../../ui/toasts.tsx'
import { AgentFields, fieldsOf, typedOf } from './agent-fields.tsx'
import { TokenDialog } from './token-dialog.tsx'

const tones: Readonly<Record<Agent['status'], BadgeTone>> = {
  active: 'good',
  paused: 'warn',
  revoked: 'neutral',
}

export const AgentStatus = ({ status }: Pick<Agent, 'status'>) => (
  <Badge tone={tones[status]}>{text.status[status]}</Badge>
)

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name === 'listAgents' || name === 'showAgent',
  })

const EditDialog = ({
  agent,
  onClose,
}: {
  readonly agent: Agent
  readonly onClose: () => void
}) => {
  const [typed, setTyped] = useState(() => typedOf(agent))
  const save = async () => {
    const { warnings } = await api.editAgent({
      name: agent.name,
      if_match: agent.version,
      ...fieldsOf(typed),
    })
    await refresh()
    announce(
      warnings.length > 0 ? `${text.warnings}: ${warnings.join(' ')}` : text.saved(agent.name),
    )
    onClose()
  }
  return (
    <FormDialog
      title={`${text.edit}: ${agent.name}`}
      submit={common.save}
      onSubmit={save}
      onClose={onClose}
    >
      {(errors) => <AgentFields typed={typed} onChange={setTyped} errors={errors} />}
    </FormDialog>
  )
}

const overlaps = [
  { value: '0', text: text.overlaps.now },
  { value: '3600', text: text.overlaps.hour },
  { value: '86400', text: text.overlaps.day },
]

const RotateDialog = ({
  name,
  onToken,
  onClose,
}: {
  readonly name: string
  readonly onToken: (token: string) => void
  readonly onClose: () => void
}) => {
  const [seconds, setSeconds] = useState('0')
  const rotate = async () => {
    const { token } = await api.rotateAgent({ name, overlap_seconds: Number(seconds) })
    await refresh()
    onToken(token)
  }
  return (
    <FormDialog
      title={text.rotateTitle(name)}
      submit={text.rotate}
      onSubmit={rotate}
      onClose={onClose}
    >
      <p>{text.rotateIntro}</p>
      <SelectField
        label={text.overlap}
        value={seconds}
        onChange={({ target }) => setSeconds(target.value)}
        options={overlaps}
      />
    </FormDialog>
  )
}

/** Other nodes that run, with folders of workspaces of their own. */
const targetsFor = (
  { site }: Pick<Agent, 'site'>,
  nodes: readonly ServerNode[],
): readonly string[] =>
  nodes
    .filter((node) => node.status === 'active' && node.site !== null && node.site !== site)
    .map((node) => node.name)

const MoveDialog = ({
  name,
  targets,
  onClose,
}: {
  readonly name: string
  readonly targets: readonly string[]
  readonly onClose: () => void
}) => {
  const [to, setTo] = useState(targets[0] ?? '')
  const move = async () => {
    const moved = await api.moveAgent({ name, to })
    await refresh()
    if (moved.move === null) announce(text.moveBack(name))
    onClose()
  }
  return (
    <FormDialog title={text.moveTitle(name)} submit={text.move} onSubmit={move} onClose={onClose}>
      <p>{text.moveIntro}</p>
      <SelectField
        label={text.moveTo}
        value={to}
        onChange={({ target }) => setTo(target.value)}
        options={targets.map((value) => ({ value, text: value }))}
      />
    </FormDialog>
  )
}

type Opened = 'edit' | 'rotate' | 'move' | 'revoke'

type Acting = {
  readonly agent: Agent
  /** Nodes to which it may move. */
  readonly targets: readonly string[]
}

const ActionMenu = ({ agent, targets }: Acting) => {
  const { name, status } = agent
  const [open, setOpen] = useState<Opened | null>(null)
  const [token, setToken] = useState<string | null>(null)
  const close = () => setOpen(null)
  const then = async (work: Promise<unknown>) => {
    await work
    await refresh()
  }
  const pause = () => then(api.pauseAgent({ name }))
  const resume = () => then(api.resumeAgent({ name }))
  const act = (work: () => Promise<unknown>, said: string, undo: () => Promise<unknown>) => () =>
    actAndSay(async () => {
      await work()
      return said
    }, undo)
  const restore = () =>
    actAndSay(async () => {
      const made = await api.restoreAgent({ name })
      await refresh()
      setToken(made.token)
      return null
    })
  const items: readonly MenuItem[] =
    status === 'revoked'
      ? [{ text: text.restore, onSelect: restore }]
      : [
          { text: text.edit, onSelect: () => setOpen('edit') },
          status === 'paused'
            ? {
                text: text.resume,
                onSelect: act(resume, text.resumed(name), pause),
              }
            : {
                text: text.pause,
                onSelect: act(pause, text.paused(name), resume),
              },
          { text: text.rotate, onSelect: () => setOpen('rotate') },
          ...(status === 'paused' && targets.length > 0
            ? [{ text: text.move, onSelect: () => setOpen('move') }]
            : []),
          { text: text.revoke, danger: true, onSelect: () => setOpen('revoke') },
        ]
  const dialogs: Readonly<Record<Opened, ReactNode>> = {
    edit: <EditDialog agent={agent} onClose={close} />,
    rotate: (
      <RotateDialog
        name={name}
        onClose={close}
        onToken={(made) => {
          close()
          setToken(made)
        }}
      />
    ),
    move: <MoveDialog name={name} targets={targets} onClose={close} />,
    revoke: (
      <ConfirmName
        title={text.revokeTitle(name)}
        name={name}
        submit={text.revoke}
        onClose={close}
        onConfirm={async () => {
          await api.revokeAgent({ name })
          await refresh()
          close()
        }}
      >
        {text.revokeIntro}
      </ConfirmName>
    ),
  }
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
      {open !== null && dialogs[open]}
      {token !== null && <TokenDialog name={name} token={token} onClose={() => setToken(null)} />}
    </>
  )
}

const MovableActions = ({ agent }: Pick<Acting, 'agent'>) => (
  <ActionMenu agent={agent} targets={targetsFor(agent, useRead('listNodes').data?.nodes ?? [])} />
)

/** Menu of actions on an agent, with its dialogs. */
export const AgentActions = ({ agent }: Pick<Acting, 'agent'>) =>
  agent.site === null ? <ActionMenu agent={agent} targets={[]} /> : <MovableActions agent={agent} />
