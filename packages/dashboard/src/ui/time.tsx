import { useSyncExternalStore } from 'react'
import { times } from '../shell/preferences.ts'

type Clock = { readonly subscribe: (tell: () => void) => () => void; readonly now: () => number }

/** One timer for all that shows the time at a rate, and none while nothing does. */
function createClock(everyMs: number): Clock {
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let now = Date.now()
  const tick = () => {
    now = Date.now()
    for (const tell of listeners) tell()
  }
  return {
    subscribe: (tell) => {
      listeners.add(tell)
      if (!timer) {
        now = Date.now()
        timer = setInterval(tick, everyMs)
      }
      return () => {
        listeners.delete(tell)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    now: () => (timer ? now : Math.floor(Date.now() / everyMs) * everyMs),
  }
}

const seconds = createClock(1_000)
const halfMinutes = createClock(30_000)

/** Milliseconds since 1970, twice a minute. */
export const useHalfMinute = (): number =>
  useSyncExternalStore(halfMinutes.subscribe, halfMinutes.now)

/** Milliseconds since 1970, once a second. */
export const useSecond = (): number => useSyncExternalStore(seconds.subscribe, seconds.now)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' })
const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/**
 * A time as people say it, from the last tick of the clock. A time after that tick may have passed all the same: it is
 * none of the future.
 */
export function relativeText(at: number, tick: number): string {
  const now = at > tick && at <= Date.now() ? at : tick
  const gap = (at - now) / 1000
  const [unit, length] = units.find(([, size]) => Math.abs(gap) >= size) ?? (['second', 1] as const)
  return unit === 'second' && Math.abs(gap) < 10
    ? 'just now'
    : relative.format(Math.round(gap / length), unit)
}

const toTheSecond = {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const
const here = new Intl.DateTimeFormat('en', toTheSecond)
const utc = new Intl.DateTimeFormat('en', { ...toTheSecond, timeZone: 'UTC' })
const exactText = (ms: number, form: 'local' | 'utc'): string =>
  form === 'utc' ? `${utc.format(ms)}Z` : here.format(ms)

/** A time exactly, here and in UTC. */
export const bothTimes = (at: string): string => `${exact.format(Date.parse(at))} · ${at}`

export const timeRow = 'tr, li, [role="listitem"]'
export const timeControl = 'a[href], button:not(:disabled), input, select, summary'

/**
 * Makes a time a stop of the Tab key, unless it is told with another one: a list has as many times as rows. A time that
 * is exact already needs none in a row.
 */
const asStop = (isExact: boolean) => (time: HTMLTimeElement | null) => {
  if (!time) return
  const place = time.closest(timeRow)
  const isTold =
    time.closest(timeControl) !== null ||
    (place !== null && (isExact || place.querySelector(timeControl) !== null))
  // A finger and a mouse can put the focus on it all the same.
  time.tabIndex = isTold ? -1 : 0
}
const asRelative = asStop(false)
const asExact = asStop(true)

/** A time from now, or exact as the person has chosen; both exact times on hover and on focus. */
export const Time = ({ at }: { readonly at: string }) => {
  const now = useHalfMinute()
  const form = times.use()
  const ms = Date.parse(at)
  return (
    <time ref={asRelative} dateTime={at} title={bothTimes(at)} className="figure whitespace-nowrap">
      {form === 'relative' ? relativeText(ms, now) : exactText(ms, form)}
    </time>
  )
}

/** The exact time, of rows that stand close together in time: here, unless the person has chosen UTC. */
export const ExactTime = ({ at }: { readonly at: string }) => {
  const ms = Date.parse(at)
  return (
    <time ref={asExact} dateTime={at} title={bothTimes(at)} className="figure whitespace-nowrap">
      {exactText(ms, times.use() === 'utc' ? 'utc' : 'local')}
    </time>
  )
}

/** A length of time in its two largest units: `4 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 1) return '< 1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const all = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const
  const at = all.findIndex(([, size]) => ms >= size)
  const [unit, size] = all[at] ?? all[3]
  const [nextUnit, nextSize] = all[at + 1] ?? all[3]
  const rest = Math.floor((ms % size) / nextSize)
  return rest === 0
    ? `${Math.floor(ms / size)} ${unit}`
    : `${Math.floor(ms / size)} ${unit} ${rest} ${nextUnit}`
}

/** Time left until then, counting down by the second. */
export const Countdown = ({ until, over }: { readonly until: string; readonly over: string }) => {
  const left = Date.parse(until) - useSecond()
  return (
    <span className="figure whitespace-nowrap">
      {left <= 0 ? over : durationText(Math.max(left, 1_000))}
    </span>
  )
}
