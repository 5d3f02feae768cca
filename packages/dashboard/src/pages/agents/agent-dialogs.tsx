import type { Agent, EditedAgent } from '@gatehouse/contract'
import { type ReactNode, useCallback, useState } from 'react'
import { api, codeOf, currentOf, queryClient } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { changedFields, overlap } from '../../ui/changed-fields.ts'
import { ConfirmName, FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { announce } from '../../ui/toasts.tsx'
import { AgentFields, fieldsOf, type Typed, typedOf } from './agent-fields.tsx'
import { TokenDialog } from './token-dialog.tsx'

export const refreshAgents = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name === 'listAgents' || name === 'showAgent',
  })

/** Saves what was typed into the form of an agent as it was. Other fields may be others by now, and stay so. */
async function save(agent: Agent, typed: Typed): Promise<EditedAgent> {
  const { name, version } = agent
  const began = fieldsOf(typedOf(agent))
  const changes = changedFields(began, fieldsOf(typed))
  try {
    return await api.editAgent({ name, if_match: version, ...changes })
  } catch (error) {
    if (codeOf(error) !== 'AgentChanged') throw error
    // The refusal carries the agent as it is now.
    const current = currentOf(error) as Agent
    if (overlap(changes, changedFields(began, fieldsOf(typedOf(current))))) throw error
    return api.editAgent({ name, if_match: current.version, ...changes })
  }
}

const EditDialog = ({
  agent,
  onClose,
}: {
  /** As it was when the dialog was opened: what is typed began with it. */
  readonly agent: Agent
  readonly onClose: () => void
}) => {
  const [typed, setTyped] = useState(() => typedOf(agent))
  const submit = async () => {
    const { warnings } = await save(agent, typed)
    await refreshAgents()
    announce(
      warnings.length > 0 ? `${text.warnings}: ${warnings.join(' ')}` : text.saved(agent.name),
    )
    onClose()
  }
  return (
    <FormDialog
      title={`${text.edit}: ${agent.name}`}
      submit={common.save}
      onSubmit={submit}
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
    await refreshAgents()
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
    await refreshAgents()
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

export type Acting = {
  readonly agent: Agent
  /** Nodes to which it may move. */
  readonly targets: readonly string[]
}

/** Dialog that is open on an agent, with the agent as it was then. */
type Opened =
  | (Acting & { readonly what: 'edit' | 'rotate' | 'move' | 'revoke' })
  | { readonly what: 'token'; readonly name: string; readonly token: string }

export type OpenDialog = (opened: Opened) => void

const AgentDialog = ({
  opened,
  open,
  onClose,
}: {
  readonly opened: Opened
  readonly open: OpenDialog
  readonly onClose: () => void
}): ReactNode => {
  if (opened.what === 'token') return <TokenDialog {...opened} onClose={onClose} />
  const { agent, targets } = opened
  const { name } = agent
  switch (opened.what) {
    case 'edit':
      return <EditDialog agent={agent} onClose={onClose} />
    case 'rotate':
      return (
        <RotateDialog
          name={name}
          onClose={onClose}
          onToken={(token) => {
            onClose()
            open({ what: 'token', name, token })
          }}
        />
      )
    case 'move':
      return <MoveDialog name={name} targets={targets} onClose={onClose} />
    case 'revoke':
      return (
        <ConfirmName
          title={text.revokeTitle(name)}
          name={name}
          submit={text.revoke}
          onClose={onClose}
          onConfirm={async () => {
            await api.revokeAgent({ name })
            await refreshAgents()
            onClose()
          }}
        >
          {text.revokeIntro}
        </ConfirmName>
      )
  }
}

const keyOf = (opened: Opened): string =>
  opened.what === 'token' ? opened.token : `${opened.what} ${opened.agent.name}`

/**
 * Dialogs on the agents of a page. The page shows them, not the row of an agent: a row leaves a filtered list as
 * its agent changes, and would take a token that is shown once with it.
 */
export function useAgentDialogs(): { readonly dialogs: ReactNode; readonly open: OpenDialog } {
  const [shown, setShown] = useState<readonly Opened[]>([])
  const open = useCallback((opened: Opened) => setShown((before) => [...before, opened]), [])
  const close = (opened: Opened) => setShown((before) => before.filter((one) => one !== opened))
  const dialogs = shown.map((opened) => (
    <AgentDialog key={keyOf(opened)} opened={opened} open={open} onClose={() => close(opened)} />
  ))
  return { dialogs, open }
}
