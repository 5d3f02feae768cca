import { useSyncExternalStore } from 'react'
import { common } from '../messages/common.ts'
import { Button, IconButton } from './button.tsx'
import { Visible } from './visible.tsx'

type Undo = () => Promise<unknown>
type Toast = { readonly id: number; readonly text: string; readonly undo: Undo | undefined }

const shownMs = 8_000
/** Longer, for a person who has to come here by keyboard. */
const undoMs = 20_000
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

const set = (next: readonly Toast[]): void => {
  toasts = next
  for (const tell of listeners) tell()
}
const dismiss = (id: number): void => set(toasts.filter((toast) => toast.id !== id))

/** Says what has been done, politely: it is read out, and takes no focus. What can be undone offers it. */
export function announce(text: string, undo?: Undo): void {
  last += 1
  const id = last
  set([...toasts.slice(-3), { id, text, undo }])
  setTimeout(() => dismiss(id), undo ? undoMs : shownMs)
}

const undoNow = ({ id, undo }: Toast): void => {
  dismiss(id)
  undo?.().then(
    () => announce(common.undone),
    (error: Error) => announce(error.message),
  )
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
      {shown.map((toast) => (
        <div
          key={toast.id}
          className="pointer-events-auto flex max-w-md items-center gap-2 rounded-lg border border-line-strong bg-raised py-1 pl-4 pr-1 shadow-lg"
        >
          <p className="min-w-0 py-1 [overflow-wrap:anywhere]">
            <Visible text={toast.text} />
          </p>
          {toast.undo && (
            <Button
              icon="undo"
              aria-label={common.undoNamed(toast.text)}
              onClick={() => undoNow(toast)}
            >
              {common.undo}
            </Button>
          )}
          <IconButton label={common.dismiss} icon="close" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  )
}
