import { civilOf, dayNumber, stampText, wallAt } from './civil.ts'
import { weekdays } from './recurrence-rule.ts'
import { offsetAt, wallOf } from './zones.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

type Change = { readonly utc: number; readonly from: number; readonly to: number }

/** The changes of a zone in a year, to the minute. */
const changesIn = (zone: string, year: number): Change[] => {
  const changes: Change[] = []
  const end = wallAt(year + 1, 1, 1)
  for (let day = wallAt(year, 1, 1); day < end; day += dayMs) {
    const [from, to] = [offsetAt(zone, day), offsetAt(zone, day + dayMs)]
    if (from === to) continue
    let [low, high] = [day, day + dayMs]
    while (high - low > minuteMs) {
      const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs
      if (offsetAt(zone, middle) === from) low = middle
      else high = middle
    }
    changes.push({ utc: high, from, to })
  }
  return changes
}

const two = (n: number): string => String(n).padStart(2, '0')

const offsetText = (ms: number): string => {
  const minutes = Math.round(Math.abs(ms) / minuteMs)
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** The day of a change as a rule knows it: the second Sunday in March, the last Sunday in October. */
const dayRule = (wall: number): string => {
  const { year, month, day, weekday } = civilOf(wall)
  const days = dayNumber(year, month + 1, 1) - dayNumber(year, month, 1)
  const nth = day + 7 > days ? -1 : Math.ceil(day / 7)
  return `BYMONTH=${month};BYDAY=${nth}${weekdays[weekday]}`
}

const observance = (change: Change, standard: boolean, repeat: readonly string[]): string[] => {
  const name = standard ? 'STANDARD' : 'DAYLIGHT'
  return [
    `BEGIN:${name}`,
    `TZOFFSETFROM:${offsetText(change.from)}`,
    `TZOFFSETTO:${offsetText(change.to)}`,
    `DTSTART:${stampText(change.utc + change.from)}`,
    ...repeat,
    `END:${name}`,
  ]
}

const yearsListed = 12

const made = new Map<string, string>()
const madeMax = 200

/** The zone as a calendar object brings it along: rules from this year on, or what is known of the next years. */
export const zoneComponent = (zone: string, aroundMs: number): string => {
  const year = civilOf(wallOf(zone, aroundMs)).year
  const key = `${zone} ${year}`
  const known = made.get(key)
  if (known !== undefined) return known
  if (made.size >= madeMax) made.clear()
  const text = zoneFrom(zone, year)
  made.set(key, text)
  return text
}

const zoneFrom = (zone: string, year: number): string => {
  const years = Array.from({ length: yearsListed }, (_, n) => changesIn(zone, year - 1 + n))
  const all = years.flat()
  const ruleOf = ({ utc, from, to }: Change) =>
    `${dayRule(utc + from)} ${stampText(utc + from).slice(8)} ${from} ${to}`
  const first = years[0] ?? []
  const regular =
    first.length > 0 &&
    years.every(
      (list) =>
        list.length === first.length &&
        list.every((one, at) => ruleOf(one) === ruleOf(first[at] as Change)),
    )
  const offset = offsetAt(zone, wallAt(year - 1, 1, 1))
  const begin: Change = { utc: wallAt(1970, 1, 1) - offset, from: offset, to: offset }
  const least = Math.min(offset, ...all.map(({ to }) => to))
  const body = regular
    ? first.flatMap((one) =>
        observance(one, one.to === least, [`RRULE:FREQ=YEARLY;${dayRule(one.utc + one.from)}`]),
      )
    : [
        ...observance(begin, offset === least, []),
        ...all.flatMap((one) => observance(one, one.to === least, [])),
      ]
  return ['BEGIN:VTIMEZONE', `TZID:${zone}`, ...body, 'END:VTIMEZONE']
    .map((line) => `${line}\r\n`)
    .join('')
}
