import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react'
import { useNotices } from '../install/notices.ts'
import { useInstalled } from '../install/use-installed.ts'
import { useLiveState, useLiveStreams } from '../live/live.ts'
import { shellText } from '../messages/shell.ts'
import { useMay, useSession } from '../session.tsx'
import { Badge } from '../ui/badge.tsx'
import { IconButton } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { actionsOf, nextTimes } from './actions.ts'
import { DocumentsLink } from './documents-link.tsx'
import { pages } from './pages.ts'
import { PauseBanner, PauseProvider, usePauseAsks } from './pause.tsx'
import { theme } from './preferences.ts'
import { useShortcutKeys, useShortcuts } from './shortcuts.ts'
import { setPendingCount } from './title.ts'
import { useWaiting } from './use-waiting.ts'

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })))
const Help = lazy(() => import('./help.tsx').then((module) => ({ default: module.Help })))

const ExactTimes = lazy(() =>
  import('../ui/exact-times.tsx').then((module) => ({ default: module.ExactTimes })),
)

/** How much waits for a person: in the menu, in the title of the tab, and as notices. */
const usePendingCount = (): number => {
  const { requests, questions, count } = useWaiting()
  useEffect(() => setPendingCount(count), [count])
  useNotices(requests, questions)
  return count
}

const NavLink = ({
  path,
  title,
  icon,
  count,
  isStart,
  onGo,
}: Pick<(typeof pages)[number], 'path' | 'title' | 'icon'> & {
  readonly count: number
  readonly isStart: boolean
  readonly onGo: () => void
}) => {
  const here = useRouterState({ select: ({ location }) => location.pathname })
  const isHere =
    here === path || (path !== '/' && here.startsWith(`${path}/`)) || (isStart && here === '/')
  return (
    <Link
      to={path}
      onClick={onGo}
      aria-current={isHere ? 'page' : undefined}
      className={cx(
        'flex min-h-11 items-center gap-2.5 rounded-lg px-3 no-underline lg:min-h-9',
        isHere
          ? 'bg-accent-soft font-medium text-accent-strong'
          : 'text-ink-soft hover:bg-sunken hover:text-ink',
      )}
    >
      <Icon name={icon} />
      <span className="grow">{title}</span>
      {count > 0 && (
        <>
          <span className="sr-only">, </span>
          <span className="figure rounded-full bg-warn-soft px-2 text-[0.8rem] font-semibold text-warn">
            {count}
          </span>
        </>
      )}
    </Link>
  )
}

const LiveMark = () => {
  const state = useLiveState()
  return (
    <span role="status" className="px-3">
      {state === 'live' ? (
        <Badge tone="good">{shellText.live}</Badge>
      ) : (
        <Badge tone={state === 'connecting' ? 'neutral' : 'warn'} icon="clock">
          {state === 'connecting' ? shellText.connecting : shellText.reconnecting}
        </Badge>
      )}
    </span>
  )
}

const Sidebar = ({
  open,
  pending,
  onGo,
  children,
}: {
  readonly open: boolean
  readonly pending: number
  readonly onGo: () => void
  readonly children: ReactNode
}) => (
  <aside
    aria-label={shellText.menu}
    className={cx(
      'z-30 flex flex-col gap-3 border-line bg-panel p-3 lg:sticky lg:top-0 lg:h-dvh lg:w-60 lg:shrink-0 lg:overflow-y-auto lg:border-r',
      open ? 'max-lg:fixed max-lg:inset-0 max-lg:top-14 max-lg:overflow-y-auto' : 'max-lg:hidden',
    )}
  >
    <Link
      to="/"
      onClick={onGo}
      className="flex items-center gap-2.5 px-2 py-1 text-[1.133rem] font-semibold no-underline max-lg:hidden"
    >
      <img src="/icon.svg" alt="" width="28" height="28" />
      Gatehouse
    </Link>
    <nav aria-label={shellText.pagesLabel} className="grid gap-0.5">
      {pages.map(({ path, title, icon }, at) => (
        <NavLink
          key={path}
          path={path}
          title={title}
          icon={icon}
          isStart={at === 0}
          count={path === '/approvals' ? pending : 0}
          onGo={onGo}
        />
      ))}
      <DocumentsLink />
    </nav>
    <div className="mt-auto grid gap-2 pt-3">{children}</div>
  </aside>
)

const AccountMenu = ({ onHelp }: { readonly onHelp: () => void }) => {
  const { whoami, logOut } = useSession()
  const chosen = theme.use()
  const themes = [
    { value: 'system', text: shellText.themeSystem },
    { value: 'light', text: shellText.themeLight },
    { value: 'dark', text: shellText.themeDark },
  ] as const
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={shellText.account(whoami.name)}
          className="flex min-h-11 items-center gap-2.5 rounded-lg px-3 text-left hover:bg-sunken lg:min-h-9"
        >
          <Icon name="person" />
          <span className="min-w-0 grow [overflow-wrap:anywhere]">
            {whoami.name} <span className="text-ink-soft">({whoami.role})</span>
          </span>
          <Icon name="up" size={14} />
        </button>
      }
      items={[
        ...themes
          .filter(({ value }) => value !== chosen)
          .map(({ value, text }) => ({ text, onSelect: () => theme.set(value) })),
        { text: shellText.shortcuts, onSelect: onHelp },
        { text: shellText.logOut, onSelect: () => void logOut() },
      ]}
    />
  )
}

/** Keys that work on every page. */
function useGlobalKeys(
  show: (what: 'palette' | 'help') => void,
  pauseAll: (() => void) | null,
): void {
  const navigate = useNavigate()
  useShortcutKeys()
  useShortcuts(
    useMemo(
      () => [
        { keys: '?', text: shellText.keys.help, group: 'anywhere', run: () => show('help') },
        { keys: '/', text: shellText.keys.palette, group: 'anywhere', run: () => show('palette') },
        { keys: 't', text: shellText.keys.times, group: 'anywhere', run: nextTimes },
        ...(pauseAll
          ? [
              {
                keys: 'P',
                text: shellText.keys.pauseAll,
                group: 'anywhere' as const,
                run: pauseAll,
              },
            ]
          : []),
        ...pages.map(({ path, title, key }) => ({
          keys: `g ${key}`,
          text: title,
          group: 'go' as const,
          run: () => void navigate({ to: path }),
        })),
      ],
      [navigate, show, pauseAll],
    ),
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      show('palette')
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [show])
}

const TopBar = ({
  open,
  onMenu,
  onSearch,
}: {
  readonly open: boolean
  readonly onMenu: () => void
  readonly onSearch: () => void
}) => (
  <header className="sticky top-0 z-30 flex h-14 items-center gap-1 border-b border-line bg-panel px-2 lg:hidden">
    <IconButton
      label={shellText.menu}
      icon={open ? 'close' : 'menu'}
      aria-expanded={open}
      onClick={onMenu}
    />
    <Link to="/" className="flex grow items-center gap-2 font-semibold no-underline">
      <img src="/icon.svg" alt="" width="24" height="24" />
      Gatehouse
    </Link>
    <IconButton label={shellText.searchHint} icon="search" onClick={onSearch} />
  </header>
)

const Framed = () => {
  useLiveStreams()
  useInstalled()
  const pending = usePendingCount()
  const mayPause = useMay('agents.manage')
  const { askPause, askResume } = usePauseAsks()
  const [open, setOpen] = useState(false)
  const [shown, setShown] = useState<'palette' | 'help' | null>(null)
  useGlobalKeys(setShown, mayPause ? askPause : null)
  const close = () => setShown(null)
  const pausing = mayPause ? { askPause, askResume } : null
  return (
    <div className="lg:flex">
      <a
        href="#content"
        className="sr-only rounded-lg bg-panel px-4 py-2 focus:not-sr-only focus:fixed focus:left-2 focus:top-2 focus:z-50"
      >
        {shellText.skip}
      </a>
      <TopBar open={open} onMenu={() => setOpen(!open)} onSearch={() => setShown('palette')} />
      <Sidebar open={open} pending={pending} onGo={() => setOpen(false)}>
        <button
          type="button"
          onClick={() => setShown('palette')}
          className="flex min-h-11 items-center gap-2 rounded-lg border border-line px-2.5 text-ink-soft hover:border-line-strong lg:min-h-9"
        >
          <Icon name="search" size={16} />
          <span className="grow whitespace-nowrap text-left">{shellText.search}</span>{' '}
          <kbd className="mono whitespace-nowrap text-[0.8rem]">Ctrl K</kbd>
        </button>
        <LiveMark />
        <AccountMenu onHelp={() => setShown('help')} />
      </Sidebar>
      <div className="min-w-0 grow">
        <PauseBanner />
        <main
          id="content"
          tabIndex={-1}
          className="mx-auto w-full min-w-0 max-w-6xl px-4 py-5 outline-none lg:px-8 lg:py-7"
        >
          <Outlet />
          <Suspense>
            <ExactTimes />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {shown === 'palette' && (
          <Palette actions={actionsOf(pausing, () => setShown('help'))} onClose={close} />
        )}
        {shown === 'help' && <Help onClose={close} />}
      </Suspense>
    </div>
  )
}

export const Frame = () => (
  <PauseProvider>
    <Framed />
  </PauseProvider>
)
