import { useEffect, useRef, useSyncExternalStore } from 'react'
import { singleKeys } from './preferences.ts'

export type Shortcut = {
  /** One key, or `g` and a key with a space between. */
  readonly keys: string
  readonly text: string
  readonly group: 'anywhere' | 'go' | 'page'
  readonly run: () => void
}

let shortcuts: readonly Shortcut[] = []
const listeners = new Set<() => void>()
const set = (next: readonly Shortcut[]): void => {
  shortcuts = next
  for (const tell of listeners) tell()
}
const subscribe = (tell: () => void) => {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export const useShortcutList = (): readonly Shortcut[] =>
  useSyncExternalStore(subscribe, () => shortcuts)

/** Shortcuts of a part of the page, while it is shown. */
export function useShortcuts(wanted: readonly Shortcut[]): void {
  const latest = useRef(wanted)
  useEffect(() => {
    latest.current = wanted
  })
  const names = wanted.map(({ keys }) => keys).join('\n')
  useEffect(() => {
    const mine = latest.current.map(({ keys, ...rest }) => ({
      ...rest,
      keys,
      run: () => latest.current.find((one) => one.keys === keys)?.run(),
    }))
    set([...shortcuts, ...mine])
    return () => set(shortcuts.filter((one) => !mine.includes(one)))
  }, [names])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const sequenceMs = 2_000

/** Runs shortcuts of one key and of two in a row, where nobody types and no dialog is open. */
export function useShortcutKeys(): void {
  useEffect(() => {
    let first = ''
    let at = 0
    const onKey = (event: KeyboardEvent) => {
      const { key, target, timeStamp } = event
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (singleKeys.get() === 'off' || isTyping(target)) return
      if (document.querySelector('dialog[open], [role="menu"]')) return
      const pair = timeStamp - at < sequenceMs ? `${first} ${key}` : key
      const found =
        shortcuts.findLast(({ keys }) => keys === pair) ??
        shortcuts.findLast(({ keys }) => keys === key)
      first = key
      at = timeStamp
      if (!found) return
      event.preventDefault()
      first = ''
      found.run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
