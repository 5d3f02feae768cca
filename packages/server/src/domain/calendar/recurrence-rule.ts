import { civilOf, wallAt } from './civil.ts'
import type { WallMs } from './zones.ts'

const frequencies = [
  'SECONDLY',
  'MINUTELY',
  'HOURLY',
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'YEARLY',
] as const
export type Frequency = (typeof frequencies)[number]

/** A rule of RFC 5545. Weekdays count from Monday, 0. */
export type RecurrenceRule = {
  readonly freq: Frequency
  readonly interval: number
  readonly count: number | null
  /** The last moment: of the wall clock, or of UTC where it was written with a Z. */
  readonly until: { readonly ms: number; readonly utc: boolean; readonly date: boolean } | null
  readonly week_start: number
  readonly by_second: readonly number[]
  readonly by_minute: readonly number[]
  readonly by_hour: readonly number[]
  /** `nth` 0 for every one; -1 is the last. */
  readonly by_day: readonly { readonly nth: number; readonly day: number }[]
  readonly by_month_day: readonly number[]
  readonly by_year_day: readonly number[]
  readonly by_week: readonly number[]
  readonly by_month: readonly number[]
  readonly by_position: readonly number[]
}

export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const

const listMax = 400
const charsMax = 2_000

const numbers = (
  text: string | undefined,
  least: number,
  most: number,
  { negative = false } = {},
): number[] | null => {
  if (text === undefined) return []
  const parts = text.split(',')
  if (parts.length > listMax) return null
  const values = parts.map((part) =>
    /^[+-]?\d{1,6}$/.test(part.trim()) ? Number(part) : Number.NaN,
  )
  const fits = (value: number) =>
    (value >= least && value <= most) ||
    (negative && -value >= Math.max(1, least) && -value <= most)
  return values.every(fits) ? [...new Set(values)].toSorted((a, b) => a - b) : null
}

const days = (text: string | undefined): { nth: number; day: number }[] | null => {
  if (text === undefined) return []
  const parts = text.split(',')
  if (parts.length > listMax) return null
  const found: { nth: number; day: number }[] = []
  for (const part of parts) {
    const [, nth = '0', name = ''] =
      /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/i.exec(part.trim()) ?? []
    const day = weekdays.indexOf(name.toUpperCase() as (typeof weekdays)[number])
    if (day < 0 || Math.abs(Number(nth)) > 53) return null
    found.push({ nth: Number(nth), day })
  }
  return found
}

/** A DATE or DATE-TIME: null for what is none, such as the 31st of February. */
export const parseStamp = (
  text: string,
): { readonly ms: WallMs; readonly utc: boolean; readonly date: boolean } | null => {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?$/i.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0', utc] = match
  const [y, m, d, h, min] = [year, month, day, hour, minute].map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  // A leap second is the last one of its minute.
  const s = Math.min(Number(second), 59)
  if (Number(second) > 60 || h > 23 || min > 59 || y < 1) return null
  const ms = wallAt(y, m, d, h, min, s)
  const there = civilOf(ms)
  if (there.month !== m || there.day !== d) return null
  return { ms, utc: utc !== undefined, date: match[4] === undefined }
}

const knownPart =
  /^(FREQ|INTERVAL|COUNT|UNTIL|WKST|BY(SECOND|MINUTE|HOUR|DAY|MONTHDAY|YEARDAY|WEEKNO|MONTH|SETPOS)|X-.*)$/

/** The parts of a rule by name; null where one is unknown, has no name or stands twice. */
const partsOf = (text: string): ReadonlyMap<string, string> | null => {
  const parts = new Map<string, string>()
  for (const part of text.trim().split(';')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim().toUpperCase()
    if (at < 1 || parts.has(name) || !knownPart.test(name)) return null
    const value = part.slice(at + 1)
    parts.set(name, value.trim().toUpperCase())
  }
  return parts
}

/** A count of at least one; undefined for what is none. */
const wholeOf = (value: string | undefined, fallback: number | null): number | null | undefined => {
  if (value === undefined) return fallback
  return /^\d{1,9}$/.test(value) && Number(value) >= 1 ? Number(value) : undefined
}

const weekdayOf = (value: string | undefined): number =>
  value === undefined ? 0 : weekdays.indexOf(value as (typeof weekdays)[number])

/** The lists that narrow a rule or multiply it; null where one is none. */
const listsOf = (parts: ReadonlyMap<string, string>) => {
  const negative = { negative: true }
  const by_second = numbers(parts.get('BYSECOND'), 0, 60)
  const by_minute = numbers(parts.get('BYMINUTE'), 0, 59)
  const by_hour = numbers(parts.get('BYHOUR'), 0, 23)
  const by_day = days(parts.get('BYDAY'))
  const by_month_day = numbers(parts.get('BYMONTHDAY'), 1, 31, negative)
  const by_year_day = numbers(parts.get('BYYEARDAY'), 1, 366, negative)
  const by_week = numbers(parts.get('BYWEEKNO'), 1, 53, negative)
  const by_month = numbers(parts.get('BYMONTH'), 1, 12)
  const by_position = numbers(parts.get('BYSETPOS'), 1, 366, negative)
  if (!by_second || !by_minute || !by_hour || !by_day || !by_month_day) return null
  if (!by_year_day || !by_week || !by_month || !by_position) return null
  return {
    ...{ by_second, by_minute, by_hour, by_day, by_month_day },
    ...{ by_year_day, by_week, by_month, by_position },
  }
}

/** Null for a rule that is none, or that nobody could mean: unknown parts, numbers out of range. */
export const parseRule = (text: string): RecurrenceRule | null => {
  const parts = text.length > charsMax ? null : partsOf(text)
  const lists = parts && listsOf(parts)
  if (!parts || !lists) return null
  const freq = frequencies.find((one) => one === parts.get('FREQ'))
  const interval = wholeOf(parts.get('INTERVAL'), 1)
  const count = wholeOf(parts.get('COUNT'), null)
  const until = parts.has('UNTIL') ? parseStamp(parts.get('UNTIL') ?? '') : undefined
  const week_start = weekdayOf(parts.get('WKST'))
  if (!freq || !interval || interval > 100_000 || count === undefined || until === null) return null
  if (week_start < 0) return null
  return { ...{ freq, interval, count, until: until ?? null, week_start }, ...lists }
}
