import type { SystemStatus } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useRead } from '../../api.ts'
import { overviewText as text } from '../../messages/overview.ts'
import { PauseButton } from '../../shell/pause.tsx'
import { useWaiting } from '../../shell/use-waiting.ts'
import { Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Visible } from '../../ui/visible.tsx'
import { FirstAgent } from './first-agent.tsx'
import { Components, HealthBadge } from './health.tsx'
import { Plots } from './plots.tsx'
import { Recent } from './recent.tsx'
import { NeedsPerson } from './waiting.tsx'

const CreateDialog = lazy(() =>
  import('../agents/create-dialog.tsx').then((module) => ({ default: module.CreateDialog })),
)

type Figure = keyof typeof text.figures

const leads: Readonly<
  Record<Figure, { readonly to: string; readonly search?: Record<string, string> }>
> = {
  pending_approvals: { to: '/approvals' },
  active_agents: { to: '/agents' },
  active_sessions: { to: '/agents' },
  capabilities_invoked_24h: { to: '/activity', search: { outcome: 'calls' } },
  policy_violations_24h: { to: '/activity', search: { outcome: 'denied' } },
}

const Tiles = ({ status }: { readonly status: SystemStatus }) => {
  const waiting = useWaiting().count
  return (
    <ul className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
      {(Object.entries(text.figures) as [Figure, string][]).map(([name, label]) => (
        <li key={name}>
          <Link
            {...leads[name]}
            className="card block h-full px-4 py-3 no-underline hover:border-line-strong"
          >
            <span className="figure block text-[1.6rem] font-semibold leading-tight">
              {numberText(name === 'pending_approvals' ? waiting : status[name])}
            </span>
            <span className="text-[0.933rem] text-ink-soft">{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const useIsFirst = () => {
  const agents = useRead('listAgents').data?.agents
  const isFirst = agents?.every(({ total_invocations }) => total_invocations === 0) === true
  return isFirst ? agents : null
}

export const OverviewPage = () => {
  const status = useRead('getStatus')
  const health = useRead('getHealth')
  const first = useIsFirst()
  // Here, and not in the guide: its first call takes the guide away, and the token must stay.
  const [creating, setCreating] = useState(false)
  return (
    <Page
      title={text.title}
      aside={status.data && <HealthBadge status={status.data.health} />}
      actions={<PauseButton />}
    >
      <Loaded query={status}>
        {(shown) => (
          <>
            {shown.health_reasons.length > 0 && (
              <div className="mb-4">
                <Notice tone={shown.health === 'unhealthy' ? 'bad' : 'warn'} role="status">
                  <ul>
                    {shown.health_reasons.map((reason) => (
                      <li key={reason}>
                        <Visible text={reason} />
                      </li>
                    ))}
                  </ul>
                </Notice>
              </div>
            )}
            {first && <FirstAgent agents={first} onCreate={() => setCreating(true)} />}
            <Tiles status={shown} />
            <div className="grid grid-cols-1 gap-x-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
              <div>
                <NeedsPerson />
                {!first && <Plots />}
                <Recent />
              </div>
              <Loaded query={health}>
                {(parts) => <Components health={parts} status={shown} />}
              </Loaded>
            </div>
          </>
        )}
      </Loaded>
      <Suspense>{creating && <CreateDialog onClose={() => setCreating(false)} />}</Suspense>
    </Page>
  )
}
