import { useNavigate, useSearch } from '@tanstack/react-router'

/** Filters of a page, kept in its address: a link leads to the same view, and Back works. */
export function useFilters<F extends Readonly<Record<string, string>>>(
  defaults: F,
): readonly [
  { readonly [K in keyof F]: string },
  (change: { readonly [K in keyof F]?: string }) => void,
] {
  const search: Readonly<Record<string, string>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const values = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, search[name] ?? value]),
  ) as { [K in keyof F]: string }
  const change = (next: { readonly [K in keyof F]?: string }): void => {
    const merged: Record<string, string> = { ...search, ...next }
    const kept = Object.entries(merged).filter(([name, value]) => value !== (defaults[name] ?? ''))
    void navigate({ to: '.', search: Object.fromEntries(kept), replace: true })
  }
  return [values, change]
}
