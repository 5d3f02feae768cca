import { civilOf, clockText, dateText } from './civil.ts'
import type { CalendarEvent, EventFace, Span } from './event.ts'
import { parseRule, type RecurrenceRule } from './recurrence-rule.ts'
import { utcOf, wallOf, type Zone } from './zones.ts'

const dayMs = 86_400_000
const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August'],
  ...['September', 'October', 'November', 'December'],
]

/** `2026-03-30T09:00`, with seconds where there are some. */
export const wallText = (wall: number): string =>
  `${dateText(wall)}T${clockText(wall).replace(/:00$/, '')}`

const dayWords = (wall: number): string => {
  const { weekday, day, month, year } = civilOf(wall)
  return `${dayNames[weekday]}, ${day} ${monthNames[month - 1]} ${year}`
}

const timeWords = (wall: number): string => clockText(wall).slice(0, 5)

export const zoneName = (zone: Zone, name: string): string =>
  typeof zone !== 'string' ? name || 'a zone of its own' : zone

/** `Monday, 30 March 2026, 09:00 to 10:00 (Europe/Berlin)`. `fallback`: for times without a zone. */
export const whenWords = (span: Span, fallback: string, ownName = ''): string => {
  if (span.all_day) {
    const last = span.start + span.length_ms - dayMs
    return last === span.start
      ? `${dayWords(span.start)}, all day`
      : `${dayWords(span.start)} to ${dayWords(last)}, all day`
  }
  const zone: Zone = span.zone === 'floating' ? fallback : span.zone
  const end = wallOf(zone, utcOf(zone, span.start) + span.length_ms)
  const sameDay = Math.floor(end / dayMs) === Math.floor(span.start / dayMs)
  const until = sameDay ? timeWords(end) : `${dayWords(end)}, ${timeWords(end)}`
  return `${dayWords(span.start)}, ${timeWords(span.start)} to ${until} (${zoneName(zone, ownName)})`
}

const units: Readonly<Record<RecurrenceRule['freq'], string>> = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
}

/** `every 2 weeks on Monday, Friday, 10 times`; the rule itself where words would take too many. */
export const ruleWords = (text: string): string => {
  const rule = parseRule(text)
  if (!rule) return text
  const finer = [
    ...[rule.by_second, rule.by_minute, rule.by_hour, rule.by_month_day],
    ...[rule.by_year_day, rule.by_week, rule.by_month, rule.by_position],
  ]
  const unit = units[rule.freq]
  const every = rule.interval === 1 ? `every ${unit}` : `every ${rule.interval} ${unit}s`
  const plainDays = rule.by_day.every(({ nth }) => nth === 0)
  const on =
    rule.by_day.length > 0 && plainDays
      ? ` on ${rule.by_day.map(({ day }) => dayNames[day]).join(', ')}`
      : ''
  const ends =
    rule.count !== null
      ? `, ${rule.count} times`
      : rule.until
        ? `, until ${dateText(rule.until.ms)}`
        : ', without an end'
  const whole = finer.every((list) => list.length === 0) && plainDays
  return `${every}${on}${ends}${whole ? '' : ` (${text})`}`
}

type Field = readonly [name: string, value: string]

const people = (face: EventFace): string => face.attendees.map(({ address }) => address).join(', ')

/** An event as its fields in words, for comparing and for people. */
export const fieldsOf = (
  event: Pick<CalendarEvent, 'span' | 'face' | 'rules' | 'zone_name'>,
  fallback: string,
): Field[] => [
  ['Title', event.face.title],
  ['When', whenWords(event.span, fallback, event.zone_name)],
  ['Repeats', event.rules.map(ruleWords).join('; ')],
  ['Where', event.face.location],
  ['Invited', people(event.face)],
  ['Description', event.face.description],
]

const lined = (sign: string, [name, value]: Field): string[] =>
  value === '' ? [] : `${name}: ${value}`.split('\n').map((line) => `${sign} ${line}`)

/** Diff, field by field: `-` as it is, `+` as it will be. */
export const diffText = (before: readonly Field[], after: readonly Field[]): string => {
  const lines = before.flatMap(([name, was], at) => {
    const now = after[at]?.[1] ?? ''
    return was === now ? [] : [...lined('-', [name, was]), ...lined('+', [name, now])]
  })
  return lines.join('\n')
}

/** The names of the fields in which two differ, each as a sentence. */
export const differencesOf = (before: readonly Field[], after: readonly Field[]): string[] =>
  before.flatMap(([name, was], at) => {
    const now = after[at]?.[1] ?? ''
    const cut = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
    return was === now ? [] : [`${name} is "${cut(now)}" and was "${cut(was)}"`]
  })
