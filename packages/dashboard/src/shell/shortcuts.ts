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

/** The innermost element: an editor has a tree of its own, of which others see its outside alone. */
const isTyping = ([target]: readonly (EventTarget | undefined)[]): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * Runs shortcuts of one key and of two in a row, where nobody types and no dialog is open. The second key may
 * take as long as it likes: hands differ, and so do machines.
 */
export function useShortcutKeys(): void {
  useEffect(() => {
    let first = ''
    const forget = () => {
      first = ''
    }
    const onKey = (event: KeyboardEvent) => {
      const { key } = event
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      const isElsewhere =
        singleKeys.get() === 'off' ||
        isTyping(event.composedPath()) ||
        document.querySelector('dialog[open], [role="menu"]')
      if (isElsewhere) {
        forget()
        return
      }
      const found =
        shortcuts.findLast(({ keys }) => keys === `${first} ${key}`) ??
        shortcuts.findLast(({ keys }) => keys === key)
      first = key
      if (!found) return
      event.preventDefault()
      forget()
      found.run()
    }
    addEventListener('keydown', onKey)
    addEventListener('pointerdown', forget)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('pointerdown', forget)
    }
  }, [])
}
