import type { Approval, Question } from '@gatehouse/contract'
import { describeCall } from '@gatehouse/contract/describe-call'
import { useEffect, useRef } from 'react'
import { installText as text } from '../messages/install.ts'
import { notices } from '../shell/preferences.ts'
import { shownText } from '../ui/visible.tsx'
import { registerServiceWorker } from './service-worker.ts'

type Notice = { readonly id: string; readonly title: string; readonly path: string }

const ofApproval = ({ id, agent, capability, effective_arguments }: Approval): Notice => ({
  id,
  title: text.asks(
    agent,
    shownText(`${capability} ${describeCall(capability, effective_arguments)}`),
  ),
  path: `/approvals/${id}`,
})

const ofQuestion = ({ id, upstream }: Question): Notice => ({
  id,
  title: text.asksQuestion(shownText(upstream)),
  path: '/approvals',
})

/** Notices are for people who do not look at the page. */
const isLookedAt = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** Tabs of one browser tell of the same thing under one tag, which a person sees once. */
async function show({ id, title, path }: Notice): Promise<void> {
  const options = { body: text.body, tag: id, icon: '/icon-192.png', data: { path } }
  const registration = await registerServiceWorker()
  if (registration?.active) return registration.showNotification(title, options)
  const shown = new Notification(title, options)
  shown.addEventListener('click', () => {
    focus()
    location.assign(path)
  })
}

/** Tells of what begins to wait while nobody looks at the page, where the person wants that. */
export function useNotices(
  approvals: readonly Approval[] | undefined,
  questions: readonly Question[] | undefined,
): void {
  const wanted = notices.use() === 'on'
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    if (!approvals || !questions) return
    const all = [...approvals.map(ofApproval), ...questions.map(ofQuestion)]
    const before = known.current
    known.current = new Set(all.map(({ id }) => id))
    if (!before || !wanted || isLookedAt() || !('Notification' in globalThis)) return
    if (Notification.permission !== 'granted') return
    for (const notice of all) if (!before.has(notice.id)) void show(notice)
  }, [approvals, questions, wanted])
}
