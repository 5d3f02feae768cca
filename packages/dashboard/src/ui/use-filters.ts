import { useNavigate, useSearch } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'

type Search = Readonly<Record<string, string>>

/**
 * Changes that the address does not have yet: it follows once the router is done. Controls show at once what was typed
 * and chosen, for a field that falls back meanwhile loses its caret, and a box that flickers is clicked twice.
 */
let ahead: Search = {}
let underWay = 0
const listeners = new Set<() => void>()
const setAhead = (next: Search): void => {
  ahead = next
  for (const tell of listeners) tell()
}
const subscribe = (tell: () => void) => {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

async function showUntilDone(change: Search, done: Promise<void>): Promise<void> {
  underWay += 1
  setAhead({ ...ahead, ...change })
  try {
    await done
  } finally {
    underWay -= 1
    if (underWay === 0) setAhead({})
  }
}

/** Filters of a page, kept in its address: a link leads to the same view, and Back works. */
export function useFilters<F extends Search>(
  defaults: F,
): readonly [
  { readonly [K in keyof F]: string },
  (change: { readonly [K in keyof F]?: string }) => void,
] {
  const inAddress: Search = useSearch({ strict: false })
  const search = { ...inAddress, ...useSyncExternalStore(subscribe, () => ahead) }
  const navigate = useNavigate()
  const values = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, search[name] ?? value]),
  ) as { [K in keyof F]: string }
  const change = (next: { readonly [K in keyof F]?: string }): void => {
    const given = Object.fromEntries(
      Object.entries<string | undefined>(next).filter(([, value]) => value !== undefined),
    ) as Search
    const withNext = (before: Search): Search =>
      Object.fromEntries(
        Object.entries({ ...before, ...given }).filter(
          ([name, value]) => value !== (defaults[name] ?? ''),
        ),
      )
    void showUntilDone(given, navigate({ to: '.', search: withNext, replace: true }))
  }
  return [values, change]
}
