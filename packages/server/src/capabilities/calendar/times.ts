import type { Range } from '../../domain/calendar/occurrences.ts'
import type { EventTimes } from '../../domain/calendar/write-event.ts'
import { momentsOf, utcOf, wallOf } from '../../domain/calendar/zones.ts'
import { refuse } from './account.ts'

const hourMs = 3_600_000
const dayMs = 86_400_000

type Given = { readonly wall: number; readonly date: boolean }

const form =
  /^\d{4}-\d{2}-\d{2}(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/** A time as an agent gives it, by the wall clock of a zone. */
const parseTime = (name: string, text: string, zone: string): Given => {
  const match = form.exec(text.trim())
  const [, clock, offset] = match ?? []
  const iso = text.trim().replace(' ', 'T')
  const wall = Date.parse(
    clock === undefined ? `${iso}T00:00Z` : offset === undefined ? `${iso}Z` : iso.toUpperCase(),
  )
  // The 30th of February is read as a day of March.
  const day = /^\d{4}-\d{2}-\d{2}/.exec(iso)?.[0]
  const exists =
    !Number.isNaN(Date.parse(`${day}T00:00Z`)) &&
    new Date(`${day}T00:00Z`).toISOString().startsWith(`${day}T`)
  if (!match || !exists || Number.isNaN(wall))
    return refuse(
      `${name} is no time such as 2026-03-30T09:00, 2026-03-30T07:00:00Z or, for whole days, 2026-03-30`,
    )
  if (clock === undefined) return { wall, date: true }
  const whole = Math.floor(wall / 1000) * 1000
  if (offset !== undefined) return { wall: wallOf(zone, whole), date: false }
  if (momentsOf(zone, whole).length === 0)
    return refuse(
      `${name}: there is no ${text.trim()} in ${zone}, where the clocks go forward over it`,
    )
  return { wall: whole, date: false }
}

const yearsMax = 10

/** When an event is to be. */
export const eventTimes = (
  given: { readonly start: string; readonly end?: string | undefined },
  zone: string,
): EventTimes => {
  const start = parseTime('start', given.start, zone)
  const end =
    given.end === undefined
      ? { wall: start.wall + (start.date ? dayMs : hourMs), date: start.date }
      : parseTime('end', given.end, zone)
  if (start.date !== end.date)
    refuse('start and end must both be dates, for whole days, or both have a time')
  const times = { start: start.wall, end: end.wall, zone, all_day: start.date }
  // By the clock that never stops: an hour may come twice.
  const length = start.date
    ? end.wall - start.wall
    : utcOf(zone, end.wall) - utcOf(zone, start.wall)
  if (length <= 0)
    refuse(
      start.date
        ? 'end must be after start: for whole days it is the day after the last'
        : 'end must be after start',
    )
  if (length > yearsMax * 366 * dayMs) refuse(`an event lasts ${yearsMax} years at most`)
  return times
}

/** Times moved to another start, as long as before. */
export const movedTimes = (start: string, zone: string, lengthMs: number): EventTimes => {
  const { wall, date } = parseTime('start', start, zone)
  const days = Math.max(dayMs, Math.ceil(lengthMs / dayMs) * dayMs)
  const end = date ? wall + days : wallOf(zone, utcOf(zone, wall) + Math.max(lengthMs, 60_000))
  return { start: wall, end, zone, all_day: date }
}

/** A range to look at, from now unless it says otherwise: dates begin at midnight of the zone. */
export const rangeOf = (
  given: { readonly from?: string | undefined; readonly to?: string | undefined },
  zone: string,
  { nowMs, usualDays, daysMax }: { nowMs: number; usualDays: number; daysMax: number },
): Range => {
  const moment = (name: string, text: string | undefined, fallback: number) =>
    text === undefined ? fallback : utcOf(zone, parseTime(name, text, zone).wall)
  const from_ms = moment('from', given.from, nowMs)
  const to_ms = moment('to', given.to, from_ms + usualDays * dayMs)
  if (to_ms <= from_ms) refuse('to must be after from')
  if (to_ms - from_ms > daysMax * dayMs + hourMs) refuse(`at most ${daysMax} days at once`)
  return { from_ms, to_ms }
}
