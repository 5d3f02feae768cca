import { wallAt } from './civil.ts'
import { expandRule } from './expand-rule.ts'
import { componentsOf, type IcsComponent, lineOf, linesOf } from './ics.ts'
import { parseRule, parseStamp, type RecurrenceRule } from './recurrence-rule.ts'

const observancesMax = 40
const onsetsMax = 200
/** Between these years the table knows each change. */
const firstMs = wallAt(1990, 1, 1)
const lastMs = wallAt(2060, 1, 1)

const offsetOf = (text: string | undefined): number | null => {
  const [, sign, hours, minutes, seconds = '0'] =
    /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(text?.trim() ?? '') ?? []
  if (sign === undefined) return null
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return Number(hours) > 23 ? null : sign === '-' ? -ms : ms
}

// A zone changes a few times a year; a rule that says otherwise means harm.
const isPlain = (rule: RecurrenceRule): boolean =>
  rule.freq === 'YEARLY' &&
  rule.by_month.length <= 2 &&
  rule.by_day.length <= 2 &&
  rule.by_hour.length + rule.by_minute.length + rule.by_second.length === 0

type Change = { readonly utc: number; readonly to: number }

const datesOf = (observance: IcsComponent): number[] =>
  linesOf(observance, 'RDATE')
    .slice(0, onsetsMax)
    .flatMap(({ value }) => value.split(',').slice(0, onsetsMax))
    .flatMap((one) => parseStamp(one)?.ms ?? [])

const changesOf = (observance: IcsComponent): Change[] | null => {
  const start = parseStamp(lineOf(observance, 'DTSTART')?.value ?? '')
  const from = offsetOf(lineOf(observance, 'TZOFFSETFROM')?.value)
  const to = offsetOf(lineOf(observance, 'TZOFFSETTO')?.value)
  if (!start || from === null || to === null) return null
  const walls = new Set([start.ms])
  for (const { value } of linesOf(observance, 'RRULE').slice(0, 2)) {
    const rule = parseRule(value)
    if (!rule || !isPlain(rule)) return null
    const until = rule.until ? (rule.until.utc ? rule.until.ms + from : rule.until.ms) : lastMs
    const budget = { left: 60_000 }
    for (const wall of expandRule(rule, start.ms, firstMs, Math.min(until, lastMs), budget))
      walls.add(wall)
  }
  for (const wall of datesOf(observance)) walls.add(wall)
  return [...walls].map((wall) => ({ utc: wall - from, to }))
}

/** The offsets of a zone that a calendar object brings along, as a table; null for one that makes no sense. */
export const ownZone = (component: IcsComponent): (readonly [number, number])[] | null => {
  const observances = [
    ...componentsOf(component, 'STANDARD'),
    ...componentsOf(component, 'DAYLIGHT'),
  ]
  if (observances.length === 0 || observances.length > observancesMax) return null
  const all: Change[] = []
  for (const observance of observances) {
    const changes = changesOf(observance)
    if (!changes) return null
    all.push(...changes)
  }
  const sorted = all.toSorted((a, b) => a.utc - b.utc)
  // Of what was before the first year the last is enough.
  const before = sorted.findLastIndex(({ utc }) => utc <= firstMs)
  return sorted
    .slice(Math.max(0, before), Math.max(0, before) + 400)
    .map(({ utc, to }) => [utc, to])
}
