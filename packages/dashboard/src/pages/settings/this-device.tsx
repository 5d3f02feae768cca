import { useEffect, useState } from 'react'
import { useInstall } from '../../install/install-offer.ts'
import { registerServiceWorker } from '../../install/service-worker.ts'
import { installText as text } from '../../messages/install.ts'
import { notices } from '../../shell/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const canNotify = 'Notification' in globalThis

/** Whether the browser took the worker; null until it has said so. */
function useHasWorker(): boolean | null {
  const [has, setHas] = useState<boolean | null>(null)
  useEffect(() => {
    let isShown = true
    void registerServiceWorker().then((registration) => {
      if (isShown) setHas(registration !== null)
    })
    return () => {
      isShown = false
    }
  }, [])
  return has
}

const Notify = () => {
  const isOn = notices.use() === 'on'
  const [denied, setDenied] = useState(canNotify && Notification.permission === 'denied')
  // The box follows the finger at once: the browser may take its time, or the person theirs.
  const [asking, setAsking] = useState(false)
  const change = async (wanted: boolean) => {
    if (!wanted) return notices.set('off')
    setAsking(true)
    const granted = (await Notification.requestPermission()) === 'granted'
    if (granted) notices.set('on')
    setDenied(!granted)
    setAsking(false)
  }
  if (!canNotify) return <p className="text-ink-soft">{text.unsupported}</p>
  return (
    <>
      <Checkbox
        label={text.notify}
        hint={text.notifyHint}
        checked={asking || (isOn && !denied)}
        onChange={({ target }) => void change(target.checked)}
      />
      {denied && <Notice tone="warn">{text.denied}</Notice>}
    </>
  )
}

/** Notifications and the app on this device: what this browser can do, and why not where it can't. */
export const ThisDevice = () => {
  const install = useInstall()
  const hasWorker = useHasWorker()
  return (
    <div className="card grid max-w-xl content-start gap-4 p-4">
      <h2 className="text-[1.067rem] font-semibold">{text.title}</h2>
      <Notify />
      <p className="text-ink-soft">{text.elsewhere}</p>
      {hasWorker === false && <Notice tone="warn">{text.noWorker}</Notice>}
      {hasWorker === true &&
        (install ? (
          <div className="grid justify-items-start gap-1.5">
            <Button icon="plus" onClick={install}>
              {text.install}
            </Button>
            <p className="text-[0.867rem] text-ink-soft">{text.installHint}</p>
          </div>
        ) : (
          <p className="text-ink-soft">{text.installElsewhere}</p>
        ))}
    </div>
  )
}
