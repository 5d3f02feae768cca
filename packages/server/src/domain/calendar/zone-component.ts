import { offsetAt, wallOf } from './zones.ts'
import { weekdays } from './recurrence-rule.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

type Change = { readonly utc: number; readonly from: number; readonly to: number }

/** The changes of a zone in a year, to the minute. */
const changesIn = (zone: string, year: number): Change[] => {
  const changes: Change[] = []
  const end = Date.UTC(year + 1, 0, 1)
  for (let day = Date.UTC(year, 0, 1); day < end; day += dayMs) {
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

/** `20260330T090000`, of a wall clock. */
export const stampText = (wall: number): string =>
  new Date(wall).toISOString().slice(0, 19).replace(/[-:]/g, '')

const offsetText = (ms: number): string => {
  const minutes = Math.round(Math.abs(ms) / minuteMs)
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** The day of a change as a rule knows it: the second Sunday in March, the last Sunday in October. */
const dayRule = (wall: number): string => {
  const date = new Date(wall)
  const month = date.getUTCMonth()
  const days = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate()
  const nth = date.getUTCDate() + 7 > days ? -1 : Math.ceil(date.getUTCDate() / 7)
  return `BYMONTH=${month + 1};BYDAY=${nth}${weekdays[(date.getUTCDay() + 6) % 7]}`
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
  const year = new Date(wallOf(zone, aroundMs)).getUTCFullYear()
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
  const offset = offsetAt(zone, Date.UTC(year - 1, 0, 1))
  const begin: Change = { utc: Date.UTC(1970, 0, 1) - offset, from: offset, to: offset }
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
