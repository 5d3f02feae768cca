import { newEvent } from '@gatehouse/server/domain/calendar/write-event'
import type { JsonObject } from '@gatehouse/server/ports/json'
import type { CalendarAccount } from '@gatehouse/server/proxy/adapters/calendar/calendar-account'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { type DavTimeouts, davTimeouts } from '@gatehouse/server/proxy/adapters/calendar/dav-client'
import { AdapterRig, connectionOf, withQuick } from '../proxy/adapter-rig.ts'

export { never } from '../proxy/adapter-rig.ts'

/** Of a test of a server that hangs, so that the test does not. */
export const quickTimeouts: DavTimeouts = { connectMs: 700, idleMs: 700, totalMs: 900 }

export const plainSettings = (port: number, change: JsonObject = {}): JsonObject => ({
  url: `http://127.0.0.1:${port}/`,
  user: 'ana',
  address: 'ana@example.org',
  name: 'Ana',
  time_zone: 'Europe/Berlin',
  ...change,
})

export const connectionTo = (settings: JsonObject, password?: string) =>
  connectionOf('calendar', settings, password)

/** A calendar object with an event of an hour; further lines go into the event. */
export const icsText = (uid: string, title: string, lines: readonly string[] = []): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Example//Test//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20260101T000000Z',
    ...(lines.some((line) => line.startsWith('DTSTART'))
      ? []
      : ['DTSTART:20260330T070000Z', 'DTEND:20260330T080000Z']),
    `SUMMARY:${title}`,
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')

export const organizer = { name: 'Ana', address: 'ana@example.org' }
export const writing = { at_ms: Date.UTC(2026, 0, 2, 3, 4, 5), organizer }

export const someFields = {
  title: 'Meeting',
  location: 'Room 1',
  description: 'Bring coffee.\nAnd cake; or, milk.',
  times: {
    start: Date.UTC(2026, 2, 30, 9),
    end: Date.UTC(2026, 2, 30, 10),
    zone: 'Europe/Berlin',
    all_day: false,
  },
  attendees: ['ben@example.net'],
  rule: null,
} as const

let numbered = 0

/** A new event as a capability buffers it. */
export const creation = (calendar: string, change: JsonObject = {}): JsonObject => {
  numbered += 1
  const uid = `new-${process.pid}-${numbered}@example.org`
  return {
    event_id: `event-new-${numbered}`,
    calendar,
    href: `${calendar}${encodeURIComponent(uid).replaceAll('%40', '@')}.ics`,
    uid,
    title: someFields.title,
    fields: { ...someFields, attendees: [...someFields.attendees] },
    writing,
    ...change,
  }
}

export const sampleEvent = (uid: string, title: string): string =>
  newEvent(uid, { ...someFields, title }, writing)

export class CalendarRig extends AdapterRig<CalendarAccount> {
  readonly order = 'oldest_first'

  static async open(settings: JsonObject): Promise<CalendarRig> {
    const adapter = createCalendarAdapter({ ...davTimeouts })
    return new CalendarRig(await AdapterRig.opened(adapter, settings))
  }

  /** Gives up soon on a server that is silent. */
  quickly<R>(work: () => Promise<R>): Promise<R> {
    return withQuick(this.account.client.timeouts, quickTimeouts, work)
  }

  async titles(collection: string): Promise<string[]> {
    return (await this.list(collection)).map(({ title }) => title).toSorted()
  }

  /** An event as a write names it. */
  async existing(collection: string, title: string): Promise<JsonObject> {
    const entry = (await this.list(collection)).find((one) => one.title === title)
    if (!entry) throw new Error(`there is no event ${title}`)
    const { ref = '', href = '', uid = '', version = '' } = entry.body
    return {
      event_id: ref,
      calendar: collection,
      href,
      uid,
      version,
      title,
      occurrence: null,
      writing,
    }
  }
}
