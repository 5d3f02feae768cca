import type { Attendee, CalendarEvent, EventException, EventFace, Span } from './event.ts'
import {
  componentsOf,
  type IcsComponent,
  type IcsLine,
  lineOf,
  linesOf,
  type ParsedIcs,
  shownLine,
  shownText,
  textOf,
} from './ics.ts'
import { ownZone } from './own-zone.ts'
import { parseRule, parseStamp } from './recurrence-rule.ts'
import { knownZone, utcOf, type Zone } from './zones.ts'

const dayMs = 86_400_000
const lengthMax = 3_660 * dayMs
const attendeesMax = 200
const exceptionsMax = 300
const datesMax = 3_000
const rulesMax = 8

type Reading = {
  readonly zones: ReadonlyMap<string, Zone>
  /** For times without a zone. */
  readonly fallback: Zone
  damaged: boolean
  truncated: boolean
}

type Stamp = { readonly wall: number; readonly zone: Zone; readonly date: boolean }

const stampOf = (reading: Reading, line: IcsLine | null, value = line?.value): Stamp | null => {
  const stamp = value === undefined ? null : parseStamp(value)
  if (!line || !stamp) return null
  if (stamp.date) return { wall: stamp.ms, zone: 'floating', date: true }
  if (stamp.utc) return { wall: stamp.ms, zone: 'UTC', date: false }
  const tzid = line.params.get('TZID')?.[0]
  if (tzid === undefined) return { wall: stamp.ms, zone: 'floating', date: false }
  const zone = reading.zones.get(tzid) ?? knownZone(tzid)
  if (zone === null) reading.damaged = true
  return { wall: stamp.ms, zone: zone ?? 'floating', date: false }
}

/** A moment; for whole days, which are no moments, the wall time. Times without a zone are of the usual one. */
const pointOf = (reading: Reading, { wall, zone, date }: Stamp): number =>
  date ? wall : utcOf(zone === 'floating' ? reading.fallback : zone, wall)

/** A length such as `PT1H30M` or `P2D`; null for what is none. */
export const parseDuration = (text: string): number | null => {
  const match =
    /^([+-])?P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/i.exec(
      text.trim(),
    )
  if (!match || !/\d/.test(text)) return null
  const [, sign, w = 0, d = 0, h = 0, m = 0, s = 0] = match
  const seconds = (((Number(w) * 7 + Number(d)) * 24 + Number(h)) * 60 + Number(m)) * 60 + Number(s)
  return (sign === '-' ? -1 : 1) * seconds * 1000
}

const spanOf = (reading: Reading, component: IcsComponent): Span | null => {
  const start = stampOf(reading, lineOf(component, 'DTSTART'))
  if (!start) return null
  const end = stampOf(reading, lineOf(component, 'DTEND'))
  const duration = lineOf(component, 'DURATION')
  const given = end
    ? pointOf(reading, end) - pointOf(reading, start)
    : duration
      ? parseDuration(duration.value)
      : start.date
        ? dayMs
        : 0
  const unusable =
    given === null || given < 0 || given > lengthMax || (end !== null && end.date !== start.date)
  if (unusable || (lineOf(component, 'DTEND') && !end)) reading.damaged = true
  const length = unusable ? (start.date ? dayMs : 0) : given
  return {
    start: start.wall,
    zone: start.zone,
    all_day: start.date,
    length_ms: start.date ? Math.max(dayMs, Math.ceil(length / dayMs) * dayMs) : length,
  }
}

const textIn = (reading: Reading, component: IcsComponent, name: string, most: number): string => {
  const raw = lineOf(component, name)?.value ?? ''
  if (raw.length > most) reading.truncated = true
  return textOf(raw.slice(0, most * 2))
}

const toAttendee = (line: IcsLine): Attendee => ({
  name: shownLine(line.params.get('CN')?.[0] ?? '', 200),
  address: shownLine(line.value.replace(/^mailto:/i, ''), 320),
  answer: shownLine(line.params.get('PARTSTAT')?.[0] ?? 'needs-action', 40).toLowerCase(),
})

const faceOf = (reading: Reading, component: IcsComponent): EventFace => {
  const organizer = lineOf(component, 'ORGANIZER')
  const attendees = linesOf(component, 'ATTENDEE')
  if (attendees.length > attendeesMax) reading.truncated = true
  const status = shownLine(lineOf(component, 'STATUS')?.value ?? '', 40).toLowerCase()
  const transparency = lineOf(component, 'TRANSP')?.value.trim().toUpperCase()
  return {
    title: shownLine(textIn(reading, component, 'SUMMARY', 1_000), 1_000),
    location: shownLine(textIn(reading, component, 'LOCATION', 1_000), 1_000),
    description: shownText(textIn(reading, component, 'DESCRIPTION', 65_536), 65_536),
    status: ['tentative', 'cancelled'].includes(status) ? status : 'confirmed',
    busy: transparency !== 'TRANSPARENT' && status !== 'cancelled',
    organizer: organizer ? toAttendee(organizer) : null,
    attendees: attendees.slice(0, attendeesMax).map(toAttendee),
    attendees_total: attendees.length,
  }
}

const pointsIn = (reading: Reading, component: IcsComponent, name: string): number[] => {
  const points: number[] = []
  for (const line of linesOf(component, name))
    for (const value of line.value.split(',')) {
      if (points.length >= datesMax) {
        reading.truncated = true
        return points
      }
      const stamp = stampOf(reading, line, value.split('/')[0])
      if (stamp) points.push(pointOf(reading, stamp))
      else reading.damaged = true
    }
  return points
}

const rulesIn = (reading: Reading, component: IcsComponent): string[] => {
  const rules: string[] = []
  for (const { value } of linesOf(component, 'RRULE')) {
    const known = rules.length < rulesMax && parseRule(value) !== null
    if (known) rules.push(value.trim())
    else reading.damaged = true
  }
  return rules
}

const zonesIn = (calendar: IcsComponent): Map<string, Zone> => {
  const zones = new Map<string, Zone>()
  for (const component of componentsOf(calendar, 'VTIMEZONE').slice(0, 20)) {
    const name = lineOf(component, 'TZID')?.value.trim()
    // Zones with a known name keep their known meaning.
    if (name === undefined || knownZone(name) !== null) continue
    const table = ownZone(component)
    if (table) zones.set(name, table)
  }
  return zones
}

export const eventsIn = (ics: ParsedIcs): readonly IcsComponent[] =>
  componentsOf(ics.root, 'VCALENDAR').flatMap((calendar) => componentsOf(calendar, 'VEVENT'))

/** Component for all occurrences; of an object that holds single ones only, the first. */
export const masterOf = (events: readonly IcsComponent[]): IcsComponent | null =>
  events.find((one) => lineOf(one, 'RECURRENCE-ID') === null) ?? events[0] ?? null

/** Occurrences that were changed by themselves. */
const exceptionsIn = (reading: Reading, events: readonly IcsComponent[]): EventException[] => {
  const exceptions: EventException[] = []
  for (const event of events) {
    const line = lineOf(event, 'RECURRENCE-ID')
    const stamp = stampOf(reading, line)
    const own = spanOf(reading, event)
    if (!stamp || !own || line?.params.get('RANGE')) reading.damaged = true
    if (!stamp || !own) continue
    if (exceptions.length >= exceptionsMax) {
      reading.truncated = true
      break
    }
    const face = faceOf(reading, event)
    exceptions.push({
      instead_of: pointOf(reading, stamp),
      span: own,
      // The long texts are held once.
      face: face.description.length > 2_000 ? { ...face, description: '' } : face,
    })
  }
  return exceptions
}

/** Event of a component; null where there is none, or none that has a time. `fallback`: for times without a zone. */
export const readEvent = (
  ics: ParsedIcs,
  known: { readonly ref: string; readonly href: string; readonly version: string },
  fallback: Zone,
): CalendarEvent | null => {
  const [calendar] = componentsOf(ics.root, 'VCALENDAR')
  const events = eventsIn(ics)
  const master = masterOf(events)
  if (!calendar || !master) return null
  const reading: Reading = {
    zones: zonesIn(calendar),
    fallback,
    damaged: !ics.sound,
    truncated: false,
  }
  const span = spanOf(reading, master)
  if (!span) return null
  const others = events.filter((event) => event !== master)
  const exceptions = exceptionsIn(reading, others)
  const tzid = lineOf(master, 'DTSTART')?.params.get('TZID')?.[0] ?? ''
  const { ref, href, version } = known
  return {
    ...{ ref, href, version },
    uid: shownLine(lineOf(master, 'UID')?.value ?? '', 900),
    zone_name: span.zone === 'UTC' ? 'UTC' : span.all_day ? '' : shownLine(tzid, 200),
    span,
    face: faceOf(reading, master),
    rules: rulesIn(reading, master),
    dates: pointsIn(reading, master, 'RDATE'),
    except: pointsIn(reading, master, 'EXDATE'),
    exceptions,
    truncated: reading.truncated,
    damaged: reading.damaged || linesOf(master, 'EXRULE').length > 0,
  }
}
