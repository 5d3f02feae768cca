import { useSyncExternalStore } from 'react'
import { common } from '../messages/common.ts'
import { IconButton } from './button.tsx'
import { Visible } from './visible.tsx'

type Toast = { readonly id: number; readonly text: string }

const shownMs = 8_000
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

const set = (next: readonly Toast[]): void => {
  toasts = next
  for (const tell of listeners) tell()
}
const dismiss = (id: number): void => set(toasts.filter((toast) => toast.id !== id))

/** Says what has been done, politely: it is read out, and takes no focus. */
export function announce(text: string): void {
  last += 1
  const id = last
  set([...toasts.slice(-3), { id, text }])
  setTimeout(() => dismiss(id), shownMs)
}

const subscribe = (tell: () => void) => {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export const Toasts = () => {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-50 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, text }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-md items-center gap-2 rounded-lg border border-line-strong bg-raised py-1 pl-4 pr-1 shadow-lg"
        >
          <p className="min-w-0 py-1 [overflow-wrap:anywhere]">
            <Visible text={text} />
          </p>
          <IconButton label={common.dismiss} icon="close" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
