import { type ReactNode, useEffect } from 'react'
import { pagerText } from '../messages/pager.ts'
import { Button } from './button.tsx'
import { numberText } from './numbers.ts'
import { useFilters } from './use-filters.ts'

const first = { offset: '0' }

/** Where the page of a long list begins, by the address. */
export const useOffset = (): number => {
  const [{ offset }] = useFilters(first)
  return Math.max(0, Math.trunc(Number(offset)) || 0)
}

/** Filters of a list that has pages. Another choice begins at the first one. */
export function usePagedFilters<F extends Readonly<Record<string, string>>>(none: F) {
  const [values, change] = useFilters<F & typeof first>({ ...none, ...first })
  const offset = useOffset()
  const choose = (next: { readonly [K in keyof F]?: string }) => change({ ...next, ...first })
  return [values, choose, offset] as const
}

/** A page of a long list, with where it stands in it and the way on and back; or what says that the list is empty. */
export const Paged = ({
  limit,
  total,
  empty,
  children,
}: {
  readonly limit: number
  readonly total: number
  readonly empty: ReactNode
  readonly children: ReactNode
}) => {
  const offset = useOffset()
  const [, change] = useFilters(first)
  const go = (next: number) => change({ offset: String(next) })
  const lastPage = Math.floor((total - 1) / limit) * limit
  // Everything on a page may be gone.
  const isBeyond = total > 0 && offset > lastPage
  useEffect(() => {
    if (isBeyond) go(lastPage)
  })
  if (total === 0) return empty
  if (total <= limit) return children
  const last = Math.min(offset + limit, total)
  return (
    <>
      {children}
      <nav aria-label={pagerText.label} className="mt-3 flex flex-wrap items-center gap-2">
        <p className="figure grow text-ink-soft">
          {pagerText.range(numberText(offset + 1), numberText(last), numberText(total))}
        </p>
        <Button disabled={offset === 0} onClick={() => go(Math.max(0, offset - limit))}>
          {pagerText.previous}
        </Button>
        <Button disabled={last >= total} onClick={() => go(offset + limit)}>
          {pagerText.next}
        </Button>
      </nav>
    </>
  )
}
