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

type Change<F extends Search> = (change: { readonly [K in keyof F]?: string }) => void

/**
 * Filters of a page, kept in its address: a link leads to the same view. The second function opens another part of the
 * page, such as a tab: filters of the part before it go, and Back leads to it.
 */
export function useFilters<F extends Search>(
  defaults: F,
): readonly [{ readonly [K in keyof F]: string }, Change<F>, Change<F>] {
  const inAddress: Search = useSearch({ strict: false })
  const search = { ...inAddress, ...useSyncExternalStore(subscribe, () => ahead) }
  const navigate = useNavigate()
  const values = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, search[name] ?? value]),
  ) as { [K in keyof F]: string }
  const given = (next: { readonly [K in keyof F]?: string }): Search =>
    Object.fromEntries(
      Object.entries<string | undefined>(next).filter(([, value]) => value !== undefined),
    ) as Search
  const chosen = (all: Search): Search =>
    Object.fromEntries(
      Object.entries(all).filter(([name, value]) => value !== (defaults[name] ?? '')),
    )
  const change: Change<F> = (next) => {
    const search = (before: Search): Search => chosen({ ...before, ...given(next) })
    void showUntilDone(given(next), navigate({ to: '.', search, replace: true }))
  }
  const open: Change<F> = (next) =>
    void showUntilDone(given(next), navigate({ to: '.', search: chosen(given(next)) }))
  return [values, change, open]
}
