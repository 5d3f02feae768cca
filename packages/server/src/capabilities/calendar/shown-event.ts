import { dateText } from '../../domain/calendar/civil.ts'
import { type CalendarFacts, isRecurring } from '../../domain/calendar/event.ts'
import { type Occurrence, occurrencesIn } from '../../domain/calendar/occurrences.ts'
import { wallText, zoneName } from '../../domain/calendar/words.ts'
import { wallOf, type Zone } from '../../domain/calendar/zones.ts'
import { type FoundEvent, refuse } from './account.ts'

const dayMs = 86_400_000

/** How an occurrence is named: a date for whole days, else its moment. */
export const occurrenceName = ({ occurrence, span }: Occurrence): string | null =>
  occurrence === null
    ? null
    : span.all_day
      ? dateText(occurrence)
      : new Date(occurrence).toISOString()

/** An occurrence as agents are shown it. */
export const shownEvent = (
  { event, collection }: FoundEvent,
  one: Occurrence,
  calendars: readonly CalendarFacts[],
  fallback: string,
) => {
  const { span, face } = one
  const zone: Zone = span.zone === 'floating' ? fallback : span.zone
  const lastDay = span.start + span.length_ms
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    event_id: event.ref,
    occurrence: occurrenceName(one),
    calendar: calendars.find(({ path }) => path === collection)?.id ?? collection,
    title: face.title,
    start: span.all_day ? dateText(span.start) : iso(one.start_ms),
    end: span.all_day ? dateText(lastDay) : iso(one.end_ms),
    all_day: span.all_day,
    time_zone: zoneName(zone, event.zone_name),
    local_start: span.all_day ? dateText(span.start) : wallText(span.start),
    local_end: span.all_day ? dateText(lastDay) : wallText(wallOf(zone, one.end_ms)),
    location: face.location,
    status: face.status,
    busy: face.busy,
    recurring: isRecurring(event),
    attendees: face.attendees_total,
    version: event.version,
  }
}

/** The occurrence that is meant: the only one of what happens once, the one named of a series. */
export const theOccurrence = (
  { event }: FoundEvent,
  name: string | undefined,
  fallback: string,
): Occurrence => {
  const all = { from_ms: -8.6e15, to_ms: 8.6e15 }
  const budget = { left: 200_000 }
  if (name === undefined) {
    const first = { ...event, rules: [], dates: [], except: [], exceptions: [] }
    const [only] = occurrencesIn(first, all, fallback, budget, 1).occurrences
    return only ?? refuse('the event has no time')
  }
  const point = Date.parse(name)
  if (!isRecurring(event) && event.exceptions.length === 0)
    return refuse('the event happens once: leave occurrence out')
  const near = { from_ms: point - 3 * dayMs, to_ms: point + 3 * dayMs }
  const moved = event.exceptions.some(({ instead_of }) => instead_of === point)
  const range = moved ? all : near
  const candidates = moved ? { ...event, rules: [], dates: [] } : event
  const found = Number.isNaN(point)
    ? undefined
    : occurrencesIn(candidates, range, fallback, budget, 5_000).occurrences.find(
        ({ occurrence }) => occurrence === point,
      )
  return (
    found ?? refuse(`there is no occurrence ${name} of it: calendar.search names those there are`)
  )
}
