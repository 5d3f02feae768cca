import { createContext, lazy, type ReactNode, Suspense, useContext, useMemo, useState } from 'react'
import { useRead } from '../api.ts'
import { common } from '../messages/common.ts'
import { shellText as text } from '../messages/shell.ts'
import { useMay } from '../session.tsx'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Time } from '../ui/time.tsx'
import { Visible } from '../ui/visible.tsx'

const PauseDialog = lazy(() =>
  import('./pause-dialogs.tsx').then((module) => ({ default: module.PauseDialog })),
)
const ResumeDialog = lazy(() =>
  import('./pause-dialogs.tsx').then((module) => ({ default: module.ResumeDialog })),
)

type Asks = { readonly askPause: () => void; readonly askResume: () => void }

const PauseContext = createContext<Asks>({ askPause: () => {}, askResume: () => {} })

export const usePauseAsks = (): Asks => useContext(PauseContext)

const useServicePause = () => useRead('showPause').data

/** Pauses everything from wherever it is asked, and resumes. */
export const PauseProvider = ({ children }: { readonly children: ReactNode }) => {
  const [asking, setAsking] = useState<'pause' | 'resume' | null>(null)
  const asks = useMemo(
    () => ({ askPause: () => setAsking('pause'), askResume: () => setAsking('resume') }),
    [],
  )
  const pause = useServicePause()
  const close = () => setAsking(null)
  return (
    <PauseContext value={asks}>
      {children}
      <Suspense>
        {asking === 'pause' && <PauseDialog onClose={close} />}
        {asking === 'resume' && pause && <ResumeDialog pause={pause} onClose={close} />}
      </Suspense>
    </PauseContext>
  )
}

/** Banner above every page while the service is paused: who paused it, why, and how to resume. */
export const PauseBanner = () => {
  const mayResume = useMay('agents.manage')
  const { askResume } = usePauseAsks()
  const pause = useServicePause()
  if (!pause?.paused) return null
  const { reason, paused_by, since, agents } = pause
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-warn bg-warn-soft px-4 py-2.5 lg:flex-nowrap lg:px-8"
    >
      <Icon name="pause" />
      <p className="min-w-56 grow [overflow-wrap:anywhere]">
        <strong>{text.isPaused}</strong>
        {paused_by !== null && ` ${text.pausedBy(common.person(paused_by))}`}
        {since !== null && (
          <>
            {' '}
            <Time at={since} />
          </>
        )}
        {reason !== '' && (
          <>
            {': '}
            <Visible text={reason} />
          </>
        )}
        {'. '}
        {text.waitsPaused(agents.length)}
      </p>
      {mayResume && (
        <Button icon="play" className="whitespace-nowrap" onClick={askResume}>
          {text.resumeAll}
        </Button>
      )}
    </div>
  )
}

/** Pauses everything, from where people look first. */
export const PauseButton = () => {
  const mayPause = useMay('agents.manage')
  const { askPause } = usePauseAsks()
  const isPaused = useServicePause()?.paused === true
  if (!mayPause || isPaused) return null
  return (
    <Button icon="pause" onClick={askPause}>
      {text.pauseAll}
    </Button>
  )
}
