import type { WallMs, Zone } from './zones.ts'

/** The collection of the replica that tells of the calendars; no path of a calendar can be called so. */
export const calendarsCollection = 'calendars\n'

/** A calendar as the replica tells it. */
export type CalendarFacts = {
  /** Path at the server: the collection of its events. */
  readonly path: string
  /** Name for agents. */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly writable: boolean
}

export type Attendee = {
  readonly name: string
  readonly address: string
  /** `needs-action`, `accepted`, `declined`, `tentative`, …, as the calendar has it. */
  readonly answer: string
}

/** When something is: by the wall clock of a zone, or whole days wherever one is. */
export type Span = {
  readonly start: WallMs
  readonly zone: Zone
  readonly all_day: boolean
  /** Of the clock that never stops; for whole days a multiple of a day. */
  readonly length_ms: number
}

/** Face of one occurrence, or of all of them: the fields that they show. */
export type EventFace = {
  readonly title: string
  readonly location: string
  readonly description: string
  /** `confirmed`, `tentative`, `cancelled`. */
  readonly status: string
  /** Whether it takes the time of whoever has it. */
  readonly busy: boolean
  readonly organizer: Attendee | null
  readonly attendees: readonly Attendee[]
  readonly attendees_total: number
}

/** An occurrence that is other than the rest: of which one it stands in place, and how it is. */
export type EventException = {
  /** When the replaced one would begin: its wall time for whole days, else the moment. */
  readonly instead_of: number
  readonly span: Span
  readonly face: EventFace
}

/** Calendar object in the replica: as strangers wrote it, cut to limits, in plain words. */
export type CalendarEvent = {
  /** Name for agents. */
  readonly ref: string
  readonly uid: string
  /** Where it lies: the path of its resource. */
  readonly href: string
  /** ETag of the object. */
  readonly version: string
  /** As the program wrote it that made it; empty where the zone is known to nobody. */
  readonly zone_name: string
  readonly span: Span
  readonly face: EventFace
  /** Rules of RFC 5545; empty for what happens once. */
  readonly rules: readonly string[]
  /** Further times, and such that are left out: wall times for whole days, else moments. */
  readonly dates: readonly number[]
  readonly except: readonly number[]
  readonly exceptions: readonly EventException[]
  /** Whether there is more of it than is held here. */
  readonly truncated: boolean
  /** Whether something of it could not be read. */
  readonly damaged: boolean
}

export const isRecurring = ({ rules, dates }: CalendarEvent): boolean =>
  rules.length > 0 || dates.length > 0
