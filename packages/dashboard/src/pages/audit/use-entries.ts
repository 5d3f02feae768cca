import type { AuditEntry, AuditPage } from '@gatehouse/contract'
import { keepPreviousData, type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { callRoute, type InputOf } from '../../api.ts'

export type EntryFilter = Omit<InputOf<'queryAudit'>, 'limit' | 'offset' | 'as_of'>

const limit = 100
/** Rows beside those on the screen that are read, too. */
const nearRows = 50
const paceMs = 100
/** Rows that were scrolled past are forgotten after so long. */
const keptMs = 10_000

type Range = { readonly first: number; readonly last: number }

/** The rows that are on the screen; while it moves, looked at every so often. */
function useShown() {
  const [shown, setShown] = useState<Range>({ first: 0, last: 0 })
  const latest = useRef(shown)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const onShown = useCallback((first: number, last: number) => {
    latest.current = { first, last }
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setShown(latest.current)
    }, paceMs)
  }, [])
  return { shown, onShown }
}

/** The pages after the first that have these rows, or are near them. */
function pagesOf({ first, last }: Range, total: number): readonly number[] {
  const from = Math.max(1, Math.floor((first - nearRows) / limit))
  const to = Math.min(Math.floor((last + nearRows) / limit), Math.ceil(total / limit) - 1)
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)
}

export type Entries = {
  /** The log as it was when the list was opened: what is added since does not move what is read. */
  readonly opened: UseQueryResult<AuditPage>
  /** How many were added since. */
  readonly added: number
  /** Undefined until it is read. */
  readonly entryAt: (at: number) => AuditEntry | undefined
  readonly onShown: (first: number, last: number) => void
  /** A page that could not be read. */
  readonly failed: UseQueryResult<AuditPage> | undefined
}

/** Entries, newest first, read page by page as they come on the screen. */
export function useEntries(filter: EntryFilter, now: AuditPage | undefined): Entries {
  const opened = useQuery({
    queryKey: ['openedEntries', filter],
    queryFn: () => callRoute('queryAudit', { ...filter, limit }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  const { data, isPlaceholderData, refetch } = opened
  const { shown, onShown } = useShown()
  const wanted = data && !isPlaceholderData ? pagesOf(shown, data.total) : []
  const older = useQueries({
    queries: wanted.map((page) => {
      const part = { ...filter, limit, offset: page * limit, as_of: data?.as_of ?? '' }
      return {
        queryKey: ['olderEntries', part],
        queryFn: () => callRoute('queryAudit', part),
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: keptMs,
      }
    }),
  })
  const added = data && now && !isPlaceholderData ? Math.max(0, now.total - data.total) : 0
  const isAtTop = shown.first === 0
  useEffect(() => {
    if (added > 0 && isAtTop) void refetch()
  }, [added, isAtTop, refetch])
  return {
    opened,
    added,
    onShown,
    failed: older.find(({ error, data: page }) => error !== null && page === undefined),
    entryAt: (at) => {
      const page = Math.floor(at / limit)
      const entries = page === 0 ? data?.entries : older[wanted.indexOf(page)]?.data?.entries
      return entries?.[at % limit]
    },
  }
}
