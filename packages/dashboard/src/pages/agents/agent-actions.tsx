import type { Agent, ServerNode } from '@gatehouse/contract'
import { api, useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { common } from '../../messages/common.ts'
import { actAndSay } from '../../ui/act-and-say.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { type Acting, type OpenDialog, refreshAgents } from './agent-dialogs.tsx'

const tones: Readonly<Record<Agent['status'], BadgeTone>> = {
  active: 'good',
  paused: 'warn',
  revoked: 'neutral',
}

export const AgentStatus = ({ status }: Pick<Agent, 'status'>) => (
  <Badge tone={tones[status]}>{text.status[status]}</Badge>
)

/** Other nodes that run, with folders of workspaces of their own. */
const targetsFor = (
  { site }: Pick<Agent, 'site'>,
  nodes: readonly ServerNode[],
): readonly string[] =>
  nodes
    .filter((node) => node.status === 'active' && node.site !== null && node.site !== site)
    .map((node) => node.name)

type Opening = { readonly open: OpenDialog }

const ActionMenu = ({ agent, targets, open }: Acting & Opening) => {
  const { name, status } = agent
  const ask = (what: 'edit' | 'rotate' | 'move' | 'revoke') => () => open({ what, agent, targets })
  const then = async (work: Promise<unknown>) => {
    await work
    await refreshAgents()
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
      const { token } = await api.restoreAgent({ name })
      await refreshAgents()
      open({ what: 'token', name, token })
      return null
    })
  const items: readonly MenuItem[] =
    status === 'revoked'
      ? [{ text: text.restore, onSelect: restore }]
      : [
          { text: text.edit, onSelect: ask('edit') },
          status === 'paused'
            ? {
                text: text.resume,
                onSelect: act(resume, text.resumed(name), pause),
              }
            : {
                text: text.pause,
                onSelect: act(pause, text.paused(name), resume),
              },
          { text: text.rotate, onSelect: ask('rotate') },
          ...(status === 'paused' && targets.length > 0
            ? [{ text: text.move, onSelect: ask('move') }]
            : []),
          { text: text.revoke, danger: true, onSelect: ask('revoke') },
        ]
  return (
    <Menu
      trigger={
        <Button icon="more" aria-label={common.actionsFor(name)}>
          <span className="sm:sr-only">{common.actions}</span>
        </Button>
      }
      items={items}
    />
  )
}

const MovableActions = ({ agent, open }: Pick<Acting, 'agent'> & Opening) => (
  <ActionMenu
    agent={agent}
    targets={targetsFor(agent, useRead('listNodes').data?.nodes ?? [])}
    open={open}
  />
)

/** Menu of actions on an agent; `open` shows their dialogs. */
export const AgentActions = ({ agent, open }: Pick<Acting, 'agent'> & Opening) =>
  agent.site === null ? (
    <ActionMenu agent={agent} targets={[]} open={open} />
  ) : (
    <MovableActions agent={agent} open={open} />
  )
