import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useEffect, useRef } from 'react'
import { useRead } from '../api.ts'
import { shellText } from '../messages/shell.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { pages } from './pages.ts'

export type PaletteAction = {
  readonly text: string
  readonly icon: IconName
  readonly run: () => void
}

const itemLook =
  'flex min-h-11 cursor-pointer items-center gap-2.5 rounded-lg px-3 data-[selected=true]:bg-accent-soft sm:min-h-9'
const headingLook =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-[0.8rem] [&_[cmdk-group-heading]]:text-ink-soft'

const Item = ({
  text,
  icon,
  onSelect,
}: {
  readonly text: string
  readonly icon: IconName
  readonly onSelect: () => void
}) => (
  <Command.Item value={text} onSelect={onSelect} className={itemLook}>
    <Icon name={icon} />
    {text}
  </Command.Item>
)

/** Everything by its name: pages, agents, and what can be done anywhere. */
export const Palette = ({
  actions,
  onClose,
}: {
  readonly actions: readonly PaletteAction[]
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const agents = useRead('listAgents').data?.agents ?? []
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector('input')?.focus()
  }, [])
  const then = (work: () => void) => () => {
    onClose()
    work()
  }
  const hasAgentPages = pages.some(({ path }) => path === '/agents')
  return (
    <dialog
      ref={dialog}
      aria-label={shellText.searchHint}
      closedby="any"
      onClose={onClose}
      className="mx-auto mt-[12vh] w-[min(94vw,34rem)] rounded-xl border border-line bg-panel p-0 text-ink shadow-2xl"
    >
      <Command label={shellText.searchHint} loop>
        <div className="flex items-center gap-2 border-b border-line px-3">
          <Icon name="search" />
          <Command.Input
            placeholder={shellText.search}
            className="min-h-12 w-full bg-transparent outline-none placeholder:text-ink-faint"
          />
        </div>
        <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
          <Command.Empty className="px-3 py-4 text-ink-soft">
            {shellText.nothingFound}
          </Command.Empty>
          <Command.Group heading={shellText.groupPages} className={headingLook}>
            {pages.map(({ path, title, icon }) => (
              <Item
                key={path}
                text={title}
                icon={icon}
                onSelect={then(() => void navigate({ to: path }))}
              />
            ))}
          </Command.Group>
          {hasAgentPages && agents.length > 0 && (
            <Command.Group heading={shellText.groupAgents} className={headingLook}>
              {agents.map(({ name }) => (
                <Item
                  key={name}
                  text={name}
                  icon="agents"
                  onSelect={then(
                    () => void navigate({ to: `/agents/${encodeURIComponent(name)}` }),
                  )}
                />
              ))}
            </Command.Group>
          )}
          <Command.Group heading={shellText.groupActions} className={headingLook}>
            {actions.map(({ text, icon, run }) => (
              <Item key={text} text={text} icon={icon} onSelect={then(run)} />
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </dialog>
  )
}
