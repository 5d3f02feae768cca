import { hash } from 'node:crypto'
import type { Attendee, CalendarEvent } from '../../../domain/calendar/event.ts'
import { isRecurring } from '../../../domain/calendar/event.ts'
import { eventRef } from '../../../domain/calendar/event-ref.ts'
import { lineOf, parseIcs } from '../../../domain/calendar/ics.ts'
import { extentOf } from '../../../domain/calendar/occurrences.ts'
import { eventsIn, masterOf, readEvent } from '../../../domain/calendar/read-event.ts'
import type { JsonObject } from '../../../ports/json.ts'
import type { ReplicaEntry } from '../../../ports/replica.ts'

const textMax = 262_144
const bodyCharsMax = 600_000

/** The event of a calendar object as this program knows it; null where it holds none. */
export const eventOf = (
  calendar: string,
  object: { readonly href: string; readonly version: string; readonly ics: string },
  zone: string,
): CalendarEvent | null => {
  const ics = parseIcs(object.ics)
  const master = masterOf(eventsIn(ics))
  if (!master) return null
  const uid = lineOf(master, 'UID')?.value ?? object.href
  const sha256 = (text: string) => hash('sha256', text)
  const { href, version } = object
  return readEvent(ics, { ref: eventRef(sha256, calendar, uid), href, version }, zone)
}

const shownPerson = ({ name, address }: Attendee): string =>
  name === '' ? address : `${name} <${address}>`

/** So that it fits whatever strangers put into it. */
const fitting = (event: CalendarEvent): CalendarEvent =>
  JSON.stringify(event).length <= bodyCharsMax
    ? event
    : { ...event, exceptions: [], truncated: true }

/** Event in the replica: enough to search, list, expand and read it. */
export const eventEntry = (
  calendar: string,
  given: CalendarEvent,
  zone: string,
  sizeBytes: number,
): ReplicaEntry => {
  const event = fitting(given)
  const { face, exceptions, ref, uid, href, version } = event
  const extent = extentOf(event, zone)
  const people = [...(face.organizer ? [face.organizer] : []), ...face.attendees].map(shownPerson)
  const others = exceptions.flatMap((one) => [one.face.title, one.face.location])
  const text = [face.location, ...people, ...others, face.description].join('\n')
  const flags = [
    ...(isRecurring(event) ? ['recurring'] : []),
    ...(face.busy ? ['busy'] : []),
    ...(event.span.all_day ? ['all_day'] : []),
    face.status,
  ]
  return {
    collection: calendar,
    id: href,
    version,
    sort_ms: extent.from_ms,
    until_ms: extent.to_ms,
    title: face.title,
    from: face.organizer ? shownPerson(face.organizer).slice(0, 1_000) : '',
    text: text.slice(0, textMax).toWellFormed(),
    flags,
    keys: [ref, ...(uid === '' ? [] : [uid])],
    body: event as unknown as JsonObject,
    size_bytes: sizeBytes,
  }
}
