import { stampText } from './civil.ts'
import {
  componentsOf,
  ended,
  escapedText,
  formatIcs,
  type IcsComponent,
  type IcsPart,
  lineOf,
  linesOf,
  parseIcs,
  withLines,
  writtenLine,
} from './ics.ts'
import { parseRule, parseStamp } from './recurrence-rule.ts'
import { zoneComponent } from './zone-component.ts'
import { knownZone, utcOf, wallOf } from './zones.ts'

const dayMs = 86_400_000

/** When an event is to be: wall times of the zone; the end is excluded. */
export type EventTimes = {
  readonly start: number
  readonly end: number
  /** A name of the time zone database, or `UTC`; of no meaning for whole days. */
  readonly zone: string
  readonly all_day: boolean
}

export type EventFields = {
  readonly title: string
  readonly location: string
  readonly description: string
  readonly times: EventTimes
  /** Plain addresses. */
  readonly attendees: readonly string[]
  /** A rule of RFC 5545; null: once. */
  readonly rule: string | null
}

/** Facts of every writing: when it was decided, and in whose name people are invited. */
export type Writing = {
  readonly at_ms: number
  readonly organizer: { readonly name: string; readonly address: string } | null
}

const stampLine = (name: string, wall: number, { all_day, zone }: EventTimes): string => {
  if (all_day) return writtenLine(name, stampText(wall).slice(0, 8), { VALUE: 'DATE' })
  if (zone === 'UTC') return writtenLine(name, `${stampText(wall)}Z`)
  return writtenLine(name, stampText(wall), { TZID: zone })
}

const utcStamp = (ms: number): string => `${stampText(Math.floor(ms / 1000) * 1000)}Z`

/** The rule with its end in the form that goes with the start: a date for whole days, else UTC. */
export const fittedRule = (rule: string, times: EventTimes): string =>
  rule.replace(/(^|;)UNTIL=([^;]*)/i, (all, before: string, text: string) => {
    const until = parseStamp(text)
    if (!until) return all
    if (times.all_day) {
      const wall = until.utc ? wallOf(times.zone, until.ms) : until.ms
      return `${before}UNTIL=${stampText(wall).slice(0, 8)}`
    }
    if (until.utc) return all
    const wall = until.date ? until.ms + dayMs - 1000 : until.ms
    return `${before}UNTIL=${utcStamp(utcOf(times.zone, wall))}`
  })

const timeLines = (times: EventTimes): readonly [string, string[]][] => [
  ['DTSTART', [stampLine('DTSTART', times.start, times)]],
  ['DTEND', [stampLine('DTEND', times.end, times)]],
]

const attendeeLine = (address: string): string =>
  writtenLine('ATTENDEE', `mailto:${address}`, {
    ROLE: 'REQ-PARTICIPANT',
    PARTSTAT: 'NEEDS-ACTION',
    RSVP: 'TRUE',
  })

const organizerLine = ({ organizer }: Writing): string[] =>
  organizer === null
    ? []
    : [
        writtenLine(
          'ORGANIZER',
          `mailto:${organizer.address}`,
          organizer.name === '' ? {} : { CN: organizer.name },
        ),
      ]

/** A new calendar object with one event. */
export const newEvent = (uid: string, fields: EventFields, writing: Writing): string => {
  const { times, title, location, description, attendees, rule } = fields
  const at = utcStamp(writing.at_ms)
  const zoned = !times.all_day && times.zone !== 'UTC'
  return [
    'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Gatehouse//Gatehouse//EN\r\nCALSCALE:GREGORIAN\r\n',
    zoned ? zoneComponent(times.zone, utcOf(times.zone, times.start)) : '',
    'BEGIN:VEVENT\r\n',
    writtenLine('UID', escapedText(uid)),
    writtenLine('DTSTAMP', at),
    writtenLine('CREATED', at),
    writtenLine('LAST-MODIFIED', at),
    writtenLine('SEQUENCE', '0'),
    ...timeLines(times).flatMap(([, lines]) => lines),
    ...(rule === null ? [] : [writtenLine('RRULE', fittedRule(rule, times))]),
    writtenLine('SUMMARY', escapedText(title)),
    ...(location === '' ? [] : [writtenLine('LOCATION', escapedText(location))]),
    ...(description === '' ? [] : [writtenLine('DESCRIPTION', escapedText(description))]),
    ...(attendees.length === 0 ? [] : organizerLine(writing)),
    ...attendees.map(attendeeLine),
    'END:VEVENT\r\nEND:VCALENDAR\r\n',
  ].join('')
}

export type Edited =
  | { readonly kind: 'edited'; readonly ics: string }
  | { readonly kind: 'refused'; readonly detail: string }

const refused = (detail: string): Edited => ({ kind: 'refused', detail })

const textLine = (name: string, text: string): string[] =>
  text === '' ? [] : [writtenLine(name, escapedText(text))]

const attendeeLines = (event: IcsComponent, wanted: readonly string[]): string[] => {
  const there = linesOf(event, 'ATTENDEE').map((line) => ({
    address: line.value
      .trim()
      .replace(/^mailto:/i, '')
      .toLowerCase(),
    raw: ended(line.raw),
  }))
  // A person who is invited already keeps the answer that was given.
  return wanted.map(
    (address) =>
      there.find((one) => one.address === address.toLowerCase())?.raw ?? attendeeLine(address),
  )
}

const hasSingles = (event: IcsComponent, all: readonly IcsComponent[]): boolean =>
  all.length > 1 || lineOf(event, 'EXDATE') !== null || lineOf(event, 'RDATE') !== null

const sequenceOf = (event: IcsComponent): number => {
  const value = Number(lineOf(event, 'SEQUENCE')?.value ?? 0)
  return Number.isSafeInteger(value) && value >= 0 && value < 1_000_000_000 ? value + 1 : 1
}

/** Times of an event now, as far as an edit of other fields needs them; null for an event without. */
const timesOf = (event: IcsComponent): EventTimes | null => {
  const line = lineOf(event, 'DTSTART')
  const stamp = line ? parseStamp(line.value) : null
  if (!line || !stamp) return null
  const zone = stamp.utc ? 'UTC' : (knownZone(line.params.get('TZID')?.[0] ?? '') ?? 'UTC')
  return { start: stamp.ms, end: stamp.ms, zone, all_day: stamp.date }
}

const withAttendees = (
  next: IcsComponent,
  event: IcsComponent,
  attendees: NonNullable<EventFields['attendees']>,
  writing: Writing,
): IcsComponent => {
  const invited = withLines(next, 'ATTENDEE', attendeeLines(event, attendees))
  if (attendees.length === 0) return withLines(invited, 'ORGANIZER', [])
  return lineOf(event, 'ORGANIZER') === null
    ? withLines(invited, 'ORGANIZER', organizerLine(writing))
    : invited
}

const edit = (
  event: IcsComponent,
  changes: Partial<EventFields>,
  writing: Writing,
): IcsComponent => {
  let next = event
  const put = (name: string, raws: readonly string[]) => {
    next = withLines(next, name, raws)
  }
  const at = utcStamp(writing.at_ms)
  put('DTSTAMP', [writtenLine('DTSTAMP', at)])
  put('LAST-MODIFIED', [writtenLine('LAST-MODIFIED', at)])
  put('SEQUENCE', [writtenLine('SEQUENCE', String(sequenceOf(event)))])
  if (changes.title !== undefined) put('SUMMARY', textLine('SUMMARY', changes.title))
  if (changes.location !== undefined) put('LOCATION', textLine('LOCATION', changes.location))
  if (changes.description !== undefined) {
    put('DESCRIPTION', textLine('DESCRIPTION', changes.description))
    // The same text in another form would now say something else.
    put('X-ALT-DESC', [])
  }
  if (changes.times) {
    for (const [name, lines] of timeLines(changes.times)) put(name, lines)
    put('DURATION', [])
  }
  const times = changes.times ?? timesOf(event)
  const rule = changes.rule === undefined ? lineOf(event, 'RRULE')?.value : changes.rule
  if (changes.rule !== undefined || (changes.times && rule))
    put('RRULE', rule && times ? [writtenLine('RRULE', fittedRule(rule, times))] : [])
  return changes.attendees ? withAttendees(next, event, changes.attendees, writing) : next
}

const withZone = (calendar: IcsComponent, times: EventTimes | undefined): IcsComponent => {
  if (!times || times.all_day || times.zone === 'UTC') return calendar
  const known = componentsOf(calendar, 'VTIMEZONE').some(
    (one) => lineOf(one, 'TZID')?.value.trim() === times.zone,
  )
  if (known) return calendar
  const added = parseIcs(zoneComponent(times.zone, utcOf(times.zone, times.start))).root.parts
  const at = calendar.parts.findIndex(({ kind }) => kind === 'component')
  return {
    ...calendar,
    parts: [...calendar.parts.slice(0, at), ...added, ...calendar.parts.slice(at)],
  }
}

type Opened = {
  readonly root: IcsComponent
  readonly calendar: IcsComponent
  readonly events: readonly IcsComponent[]
  readonly master: IcsComponent
}

const opened = (text: string): Opened | string => {
  const { root, sound } = parseIcs(text)
  const [calendar, ...more] = componentsOf(root, 'VCALENDAR')
  if (!sound || !calendar || more.length > 0)
    return 'it is not written soundly, so changing it could lose something of it'
  const events = componentsOf(calendar, 'VEVENT')
  const masters = events.filter((one) => lineOf(one, 'RECURRENCE-ID') === null)
  const [master] = masters.length > 0 ? masters : events
  if (!master || masters.length > 1) return 'it is not one event'
  return { root, calendar, events, master }
}

const replaced = (
  { root, calendar }: Opened,
  change: (parts: readonly IcsPart[]) => readonly IcsPart[],
  times: EventTimes | undefined,
): string => {
  const next = withZone({ ...calendar, parts: change(calendar.parts) }, times)
  const parts = root.parts.map(
    (part): IcsPart =>
      part.kind === 'component' && part.component === calendar
        ? { kind: 'component', component: next }
        : part,
  )
  return formatIcs({ ...root, parts })
}

/** The object with fields of its event changed; whatever else it holds stays byte for byte. */
export const changedEvent = (
  text: string,
  changes: Partial<EventFields>,
  writing: Writing,
): Edited => {
  const found = opened(text)
  if (typeof found === 'string') return refused(found)
  const { events, master } = found
  const singles = hasSingles(master, events)
  if (singles && (changes.rule !== undefined || (changes.times && lineOf(master, 'RRULE')))) {
    const start = parseStamp(lineOf(master, 'DTSTART')?.value ?? '')
    if (changes.rule !== undefined || start?.ms !== changes.times?.start)
      return refused(
        'single occurrences of it were changed or left out, and would no longer fit: name one with occurrence, or delete it and create it anew',
      )
  }
  const next = edit(master, changes, writing)
  const ics = replaced(
    found,
    (parts) =>
      parts.map((part) =>
        part.kind === 'component' && part.component === master
          ? { kind: 'component', component: next }
          : part,
      ),
    changes.times,
  )
  return { kind: 'edited', ics }
}

/** How a single occurrence is written: as the start of its series is. */
const singleLine = (master: IcsComponent, name: string, occurrence: number): string | null => {
  const line = lineOf(master, 'DTSTART')
  const stamp = line ? parseStamp(line.value) : null
  if (!line || !stamp) return null
  if (stamp.date) return writtenLine(name, stampText(occurrence).slice(0, 8), { VALUE: 'DATE' })
  if (stamp.utc) return writtenLine(name, utcStamp(occurrence))
  const tzid = line.params.get('TZID')?.[0]
  const zone = tzid === undefined ? null : knownZone(tzid)
  // Moments need no zone; a moment is what everybody compares.
  if (tzid === undefined || zone === null) return writtenLine(name, utcStamp(occurrence))
  return writtenLine(name, stampText(wallOf(zone, occurrence)), { TZID: tzid })
}

const standsFor = (event: IcsComponent, occurrence: number): boolean => {
  const line = lineOf(event, 'RECURRENCE-ID')
  const stamp = line ? parseStamp(line.value) : null
  if (!line || !stamp) return false
  const zone = stamp.utc ? 'UTC' : knownZone(line.params.get('TZID')?.[0] ?? '')
  return (stamp.date || zone === null ? stamp.ms : utcOf(zone, stamp.ms)) === occurrence
}

/** The object without one occurrence. */
export const withoutOccurrence = (text: string, occurrence: number, writing: Writing): Edited => {
  const found = opened(text)
  if (typeof found === 'string') return refused(found)
  const { events, master } = found
  const line = singleLine(master, 'EXDATE', occurrence)
  if (line === null) return refused('it has no time')
  const lines = [...linesOf(master, 'EXDATE').map(({ raw }) => ended(raw)), line]
  const next = edit(withLines(master, 'EXDATE', lines), {}, writing)
  const gone = events.find((one) => one !== master && standsFor(one, occurrence))
  const ics = replaced(
    found,
    (parts) =>
      parts.flatMap((part): IcsPart[] => {
        if (part.kind !== 'component') return [part]
        if (part.component === gone) return []
        return part.component === master ? [{ kind: 'component', component: next }] : [part]
      }),
    undefined,
  )
  return { kind: 'edited', ics }
}

/** The object with one occurrence other than the rest. `times`: when that occurrence is now. */
export const withOccurrence = (
  text: string,
  occurrence: number,
  changes: Partial<EventFields> & { readonly times: EventTimes },
  writing: Writing,
): Edited => {
  const found = opened(text)
  if (typeof found === 'string') return refused(found)
  const { events, master } = found
  const line = singleLine(master, 'RECURRENCE-ID', occurrence)
  if (line === null) return refused('it has no time')
  const known = events.find((one) => one !== master && standsFor(one, occurrence))
  let base = known ?? master
  if (!known) {
    for (const name of ['RRULE', 'RDATE', 'EXDATE', 'EXRULE']) base = withLines(base, name, [])
    base = withLines(base, 'RECURRENCE-ID', [line])
  }
  const next: IcsPart = { kind: 'component', component: edit(base, changes, writing) }
  const ics = replaced(
    found,
    (parts) => {
      if (known)
        return parts.map((part) =>
          part.kind === 'component' && part.component === known ? next : part,
        )
      const at = parts.findLastIndex(
        (part) => part.kind === 'component' && part.component.name === 'VEVENT',
      )
      return [...parts.slice(0, at + 1), next, ...parts.slice(at + 1)]
    },
    changes.times,
  )
  return { kind: 'edited', ics }
}

/** Null where a rule is one that can be written. */
export const ruleFault = (text: string): string | null => {
  if (!/^[A-Za-z0-9=;,+:-]+$/.test(text))
    return 'it is no rule of RFC 5545, such as FREQ=WEEKLY;BYDAY=MO'
  const rule = parseRule(text)
  if (!rule) return 'a part of it is unknown or out of range; such as FREQ=WEEKLY;BYDAY=MO;COUNT=10'
  if (rule.count !== null && rule.until !== null) return 'COUNT and UNTIL exclude each other'
  if (['SECONDLY', 'MINUTELY', 'HOURLY'].includes(rule.freq)) return 'it is to repeat daily at most'
  return null
}

const canonical = ({ name, parts }: IcsComponent): string => {
  const said = parts.map((part) => {
    if (part.kind === 'component') return canonical(part.component)
    const { line } = part
    const params = [...line.params].map(([key, values]) => `${key}=${values.join(',')}`).toSorted()
    return `${line.name};${params.join(';')}:${line.value.trimEnd()}`
  })
  return `${name}{${said.toSorted().join('\n')}}`
}

/** Whether two objects say the same, whatever the order and the folds: servers write them anew. */
export const sameObject = (a: string, b: string): boolean =>
  a === b || canonical(parseIcs(a).root) === canonical(parseIcs(b).root)

/** Whether a rule does not end before what it repeats. */
export const ruleFits = (text: string, times: EventTimes): boolean => {
  const until = parseRule(text)?.until ?? null
  if (until === null) return true
  const wall = until.utc && !times.all_day ? wallOf(times.zone, until.ms) : until.ms
  return wall + (until.date ? dayMs - 1 : 0) >= times.start
}
