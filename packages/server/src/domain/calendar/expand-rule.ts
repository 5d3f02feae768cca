import { civilDay, civilOf, dayNumber, weekdayOf } from './civil.ts'
import type { RecurrenceRule } from './recurrence-rule.ts'
import type { WallMs } from './zones.ts'

const secondMs = 1_000
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
/** The end of the year 9999: nothing is looked for beyond. */
const wallMax = 253_402_300_799_000

/**
 * Why not a library: those that expand rules look for the next occurrence until they find one. A rule that is
 * never met keeps ical.js, and more than one server, busy for ever, and nothing can stop it from outside.
 *
 * How much may be looked at. One for all that a call expands: a calendar of strangers may hold any rule,
 * also such that match never (30 February), and each costs only what is left.
 */
export type Budget = { left: number }

type Days = { readonly from: number; readonly to: number }

const dayOf = (wall: WallMs): number => Math.floor(wall / dayMs)
const yearOf = (day: number): number => civilDay(day).year
const monthDays = (year: number, month: number): Days => ({
  from: dayNumber(year, month, 1),
  to: dayNumber(year, month + 1, 1),
})
const yearDays = (year: number): Days => ({
  from: dayNumber(year, 1, 1),
  to: dayNumber(year + 1, 1, 1),
})

const has = (list: readonly number[], value: number, ofAll: number): boolean =>
  list.length === 0 || list.includes(value) || list.includes(value - ofAll - 1)

/** Whether a day is one of the nth weekdays that are asked for, in its month or year. */
const isNth = (rule: RecurrenceRule, day: number, within: Days): boolean =>
  rule.by_day.some(({ nth, day: weekday }) => {
    if (weekday !== weekdayOf(day)) return false
    if (nth === 0) return true
    return nth > 0
      ? Math.floor((day - within.from) / 7) + 1 === nth
      : Math.floor((within.to - 1 - day) / 7) + 1 === -nth
  })

/** The week of the year that a day is in, and how many that year has: a week belongs to where four of its days are. */
const weekOf = (
  day: number,
  weekStart: number,
): { readonly week: number; readonly weeks: number } => {
  const begin = day - ((weekdayOf(day) - weekStart + 7) % 7)
  const year = yearOf(begin + 3)
  const firstOf = (y: number) => {
    const fourth = dayNumber(y, 1, 4)
    return fourth - ((weekdayOf(fourth) - weekStart + 7) % 7)
  }
  const first = firstOf(year)
  return { week: (begin - first) / 7 + 1, weeks: (firstOf(year + 1) - first) / 7 }
}

const nthMatters = ({ freq, by_week }: RecurrenceRule): boolean =>
  freq === 'MONTHLY' || (freq === 'YEARLY' && by_week.length === 0)

const dayMatches = (rule: RecurrenceRule, day: number): boolean => {
  const { year, month, day: ofMonth } = civilDay(day)
  if (rule.by_month.length > 0 && !rule.by_month.includes(month)) return false
  if (rule.by_month_day.length > 0) {
    const within = monthDays(year, month)
    if (!has(rule.by_month_day, ofMonth, within.to - within.from)) return false
  }
  if (rule.by_year_day.length > 0) {
    const within = yearDays(year)
    if (!has(rule.by_year_day, day - within.from + 1, within.to - within.from)) return false
  }
  if (rule.by_week.length > 0 && rule.freq === 'YEARLY') {
    const { week, weeks } = weekOf(day, rule.week_start)
    if (!has(rule.by_week, week, weeks)) return false
  }
  if (rule.by_day.length === 0) return true
  if (!nthMatters(rule)) return rule.by_day.some((one) => one.day === weekdayOf(day))
  const inYear = rule.freq === 'YEARLY' && rule.by_month.length === 0
  return isNth(rule, day, inYear ? yearDays(year) : monthDays(year, month))
}

/** Rule completed from its start. */
const completed = (rule: RecurrenceRule, start: WallMs): RecurrenceRule => {
  const { day, month, weekday } = civilOf(start)
  const { freq, by_day, by_month, by_month_day, by_year_day, by_week } = rule
  const free = by_day.length + by_month_day.length + by_year_day.length + by_week.length === 0
  const own = { by_month_day: [day] }
  if (freq === 'YEARLY' && free)
    return { ...rule, ...own, by_month: by_month.length > 0 ? by_month : [month] }
  if (
    freq === 'YEARLY' &&
    by_week.length > 0 &&
    by_day.length + by_month_day.length + by_year_day.length === 0
  )
    return { ...rule, by_day: [{ nth: 0, day: weekday }] }
  if (freq === 'MONTHLY' && free) return { ...rule, ...own }
  if (freq === 'WEEKLY' && free) return { ...rule, by_day: [{ nth: 0, day: weekday }] }
  return rule
}

const timesOf = (rule: RecurrenceRule, start: WallMs): number[] => {
  const { hour, minute, second } = civilOf(start)
  const or = (list: readonly number[], own: number) => (list.length > 0 ? list : [own])
  const times: number[] = []
  for (const h of or(rule.by_hour, hour))
    for (const m of or(rule.by_minute, minute))
      for (const s of or(rule.by_second, second))
        if (s < 60) times.push(h * hourMs + m * minuteMs + s * secondMs)
  return times
}

const positioned = (all: readonly number[], positions: readonly number[]): number[] =>
  positions.length === 0
    ? [...all]
    : [...new Set(positions.map((at) => (at > 0 ? at - 1 : all.length + at)))]
        .toSorted((a, b) => a - b)
        .flatMap((at) => all[at] ?? [])

/** The days of the nth period from the start, and where to begin so that nothing before `from` is looked at. */
const periodsOf = (rule: RecurrenceRule, start: WallMs) => {
  const { freq, interval } = rule
  const first = dayOf(start)
  const { year, month } = civilDay(first)
  if (freq === 'YEARLY')
    return {
      days: (n: number) => yearDays(year + n * interval),
      skip: (day: number) => (yearOf(day) - year) / interval,
    }
  if (freq === 'MONTHLY')
    return {
      days: (n: number) => monthDays(year, month + n * interval),
      skip: (day: number) => {
        const to = civilDay(day)
        return ((to.year - year) * 12 + to.month - month) / interval
      },
    }
  if (freq === 'WEEKLY') {
    const week = first - ((weekdayOf(first) - rule.week_start + 7) % 7)
    return {
      days: (n: number) => ({ from: week + n * 7 * interval, to: week + n * 7 * interval + 7 }),
      skip: (day: number) => (day - week) / 7 / interval,
    }
  }
  return {
    days: (n: number) => ({ from: first + n * interval, to: first + n * interval + 1 }),
    skip: (day: number) => (day - first) / interval,
  }
}

/** Range that is looked at: nothing after `until`, and nothing before `from` needs to be. */
type Window = { readonly from: WallMs; readonly until: WallMs }

function* byPeriods(
  rule: RecurrenceRule,
  start: WallMs,
  { from, until }: Window,
  budget: Budget,
): Generator<WallMs> {
  const times = timesOf(rule, start)
  const { days, skip } = periodsOf(rule, start)
  // A count is counted from the start.
  const begin = rule.count === null ? Math.max(0, Math.floor(skip(dayOf(from))) - 1) : 0
  for (let n = begin; ; n += 1) {
    const period = days(n)
    const found: number[] = []
    budget.left -= 1
    for (let day = period.from; day < period.to; day += 1) {
      budget.left -= 1
      if (!dayMatches(rule, day)) continue
      for (const time of times) found.push(day * dayMs + time)
      budget.left -= times.length
      if (budget.left <= 0) return
    }
    if (budget.left <= 0 || period.from * dayMs > until) return
    yield* positioned(found, rule.by_position)
  }
}

const steps = { HOURLY: hourMs, MINUTELY: minuteMs, SECONDLY: secondMs } as const

const lets = (list: readonly number[], value: number): boolean =>
  list.length === 0 || list.includes(value)

/** Whether a step meets the parts that narrow its frequency; the finer ones are sets within it. */
const timeMatches = (rule: RecurrenceRule, moment: ReturnType<typeof civilOf>): boolean =>
  lets(rule.by_hour, moment.hour) &&
  (rule.freq === 'HOURLY' || lets(rule.by_minute, moment.minute)) &&
  (rule.freq !== 'SECONDLY' || lets(rule.by_second, moment.second))

function* bySteps(
  rule: RecurrenceRule,
  start: WallMs,
  { from, until }: Window,
  budget: Budget,
): Generator<WallMs> {
  const { freq } = rule
  const unit = freq === 'HOURLY' || freq === 'MINUTELY' ? steps[freq] : secondMs
  const step = unit * rule.interval
  const { minute, second } = civilOf(start)
  // Within an hour or a minute the finer parts are sets, as in the coarser rules.
  const or = (list: readonly number[], own: number) => (list.length > 0 ? list : [own])
  const minutes = freq === 'HOURLY' ? or(rule.by_minute, minute) : [0]
  const seconds = freq === 'SECONDLY' ? [0] : or(rule.by_second, second)
  const base = Math.floor(start / unit) * unit
  let n = rule.count === null ? Math.max(0, Math.floor((from - base) / step)) : 0
  for (;;) {
    const at = base + n * step
    budget.left -= 1
    if (budget.left <= 0 || at > until) return
    if (!dayMatches(rule, dayOf(at))) {
      // On to the next day at once.
      n = Math.max(n + 1, Math.ceil(((dayOf(at) + 1) * dayMs - base) / step))
      continue
    }
    n += 1
    if (!timeMatches(rule, civilOf(at))) continue
    const all = minutes.flatMap((m) => seconds.map((s) => at + m * minuteMs + s * secondMs))
    budget.left -= all.length
    yield* positioned(all, rule.by_position)
  }
}

/**
 * The times of a rule from its start on, ascending, by the wall clock; those before `from` may be left out.
 * Ends when the budget is used up, which shows in it. The start itself is yielded only where the rule meets it.
 */
export function* expandRule(
  given: RecurrenceRule,
  start: WallMs,
  from: WallMs,
  until: WallMs | null,
  budget: Budget,
): Generator<WallMs> {
  const rule = completed(given, start)
  const all = rule.freq in steps ? bySteps : byPeriods
  let counted = 0
  const last = Math.min(until ?? wallMax, wallMax)
  for (const wall of all(rule, start, { from, until: last }, budget)) {
    if (wall < start) continue
    if (wall > last) return
    counted += 1
    yield wall
    if (rule.count !== null && counted >= rule.count) return
  }
}
