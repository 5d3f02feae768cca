import type { ActivityEvent, UnlistedEntries } from '@gatehouse/contract'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useRead } from '../../api.ts'
import { keptMax, recentActivity, useActivity } from '../../live/live.ts'
import { merge } from './merge.ts'

/** The page is drawn at most this often, however much happens. */
const drawMs = 200

const olderMax = 500

export type Events = {
  readonly events: readonly ActivityEvent[]
  /** New ones behind a pause. */
  readonly waiting: number
  readonly paused: boolean
  readonly setPaused: (paused: boolean) => void
  /** Entries of the log that are there, and not among the older ones. */
  readonly notListed: readonly UnlistedEntries[] | undefined
  readonly older: {
    readonly data: unknown
    readonly error: unknown
    readonly refetch: () => unknown
  }
}

/** Newest first: what came while the page is open, then what was there before. */
export function useEvents(): Events {
  const older = useRead('listActivity', { limit: olderMax })
  const [events, setEvents] = useState<readonly ActivityEvent[]>([])
  const [held, setHeld] = useState<readonly ActivityEvent[]>([])
  const [paused, setPaused] = useState(false)
  const arrived = useRef<ActivityEvent[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isPaused = useRef(paused)

  const draw = useCallback(() => {
    timer.current = undefined
    if (isPaused.current) {
      setHeld(arrived.current)
      return
    }
    const fresh = arrived.current.toReversed()
    arrived.current = []
    setHeld([])
    setEvents((before) => merge(fresh, before, keptMax))
  }, [])
  const hear = useCallback(
    (heard: readonly ActivityEvent[]) => {
      arrived.current = [...arrived.current, ...heard].slice(-keptMax)
      timer.current ??= setTimeout(draw, drawMs)
    },
    [draw],
  )
  useActivity(hear)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    isPaused.current = paused
    timer.current ??= setTimeout(draw, 0)
  }, [paused, draw])
  // Older ones may have been read, or asked for, by a page before this one: it heard these since.
  useEffect(() => hear(recentActivity()), [hear])
  const before = older.data?.events
  const all = useMemo(() => merge(events, before ?? [], keptMax), [events, before])
  // One that came with the older ones, too, is shown already.
  const waiting = useMemo(() => {
    const shown = new Set(all.map(({ id }) => id))
    return held.filter(({ id }) => !shown.has(id)).length
  }, [held, all])
  const notListed = older.data?.not_listed
  return { events: all, waiting, paused, setPaused, notListed, older }
}
