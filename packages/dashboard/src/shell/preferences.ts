import { useSyncExternalStore } from 'react'

/** Choice of a person for this browser, kept there. */
function createPreference<T extends string>(
  name: string,
  values: readonly T[],
  fallback: T,
  apply: (value: T) => void = () => undefined,
) {
  const key = `gatehouse.${name}`
  const listeners = new Set<() => void>()
  const get = (): T => values.find((value) => value === localStorage.getItem(key)) ?? fallback
  const set = (value: T): void => {
    localStorage.setItem(key, value)
    apply(value)
    for (const tell of listeners) tell()
  }
  const subscribe = (tell: () => void) => {
    listeners.add(tell)
    return () => listeners.delete(tell)
  }
  return { get, set, use: () => useSyncExternalStore(subscribe, get) }
}

/** `system` follows the system. `theme.js` reads the same key before the first paint. */
export const theme = createPreference('theme', ['system', 'light', 'dark'], 'system', (value) => {
  if (value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = value
})

/** Times from now, or exact: here, or in UTC. */
export const times = createPreference('times', ['relative', 'local', 'utc'], 'relative')

/** Notifications of this browser while the page is open. */
export const notices = createPreference('notices', ['off', 'on'], 'off')

/** Shortcuts of one key: they are in the way of people who speak to their computer. */
export const singleKeys = createPreference('single-keys', ['on', 'off'], 'on')
