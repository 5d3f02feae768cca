import { useSyncExternalStore } from 'react'

/** Browsers that install pages tell that they could; the page asks when somebody wants it. */
type InstallEvent = Event & { readonly prompt: () => Promise<unknown> }

let offer: InstallEvent | null = null
const listeners = new Set<() => void>()
const set = (next: InstallEvent | null): void => {
  offer = next
  for (const tell of listeners) tell()
}
addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  set(event as InstallEvent)
})
addEventListener('appinstalled', () => set(null))

const subscribe = (tell: () => void) => {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

/** Installs the page as an app; null where the browser does not offer it, or it is installed. */
export function useInstall(): (() => void) | null {
  const found = useSyncExternalStore(subscribe, () => offer)
  return found && (() => void found.prompt().then(() => set(null)))
}
