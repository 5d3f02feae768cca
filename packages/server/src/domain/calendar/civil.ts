const secondMs = 1_000
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** Date and time as a wall clock and a calendar show them. Months from 1, weekdays from Monday, 0. */
export type Civil = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly weekday: number
}

/** The days since 1 January 1970 of a day of the Gregorian calendar; months may be of other years. */
export const dayNumber = (year: number, month: number, day: number): number => {
  const monthsFromMarch = year * 12 + month - 3
  const y = Math.floor(monthsFromMarch / 12)
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (monthsFromMarch - y * 12) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** The day of this number: the inverse of `dayNumber`. */
export const civilDay = (number: number): Pick<Civil, 'year' | 'month' | 'day'> => {
  const shifted = number + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  }
}

export const civilOf = (wall: number): Civil => {
  const number = Math.floor(wall / dayMs)
  const rest = wall - number * dayMs
  return {
    ...civilDay(number),
    hour: Math.floor(rest / hourMs),
    minute: Math.floor(rest / minuteMs) % 60,
    second: Math.floor(rest / secondMs) % 60,
    weekday: weekdayOf(number),
  }
}

export const wallAt = (
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
): number =>
  dayNumber(year, month, day) * dayMs + hour * hourMs + minute * minuteMs + second * secondMs

const padded = (n: number, length: number): string => String(n).padStart(length, '0')

/** `2026-03-30`. */
export const dateText = (wall: number): string => {
  const { year, month, day } = civilOf(wall)
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`
}

/** `09:00:30`. */
export const clockText = (wall: number): string => {
  const { hour, minute, second } = civilOf(wall)
  return [hour, minute, second].map((n) => padded(n, 2)).join(':')
}

/** `20260330T090000`, as calendar objects have it. */
export const stampText = (wall: number): string =>
  `${dateText(wall)}T${clockText(wall)}`.replace(/[-:]/g, '')
