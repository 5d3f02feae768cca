import { wallAt } from './civil.ts'

/** Milliseconds of a wall clock, counted as if it showed UTC. */
export type WallMs = number

/**
 * Where a clock is: a name of the time zone database, `UTC`, `floating` (wherever one is), or a table of an
 * own zone: from when (UTC) which offset holds, ascending.
 */
export type Zone = string | readonly (readonly [number, number])[]

const dayMs = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()
/** Offsets at the beginnings of days; most days begin and end with the same. */
const days = new Map<string, number>()
const daysMax = 50_000

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, made)
  return made
}

/** Whether there is a zone of this name. */
export const isZone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

const lookedUp = (zone: string, utcMs: number): number => {
  const parts: Record<string, string> = {}
  for (const { type, value } of formatOf(zone).formatToParts(utcMs)) parts[type] = value
  const part = (name: string) => Number(parts[name])
  const year = parts['era'] === 'BC' ? 1 - part('year') : part('year')
  const [month, day] = [part('month'), part('day')]
  const wall = wallAt(year, month, day, part('hour'), part('minute'), part('second'))
  return wall - Math.floor(utcMs / 1000) * 1000
}

const atDay = (zone: string, day: number): number => {
  const key = `${zone} ${day}`
  const known = days.get(key)
  if (known !== undefined) return known
  if (days.size >= daysMax) days.clear()
  const offset = lookedUp(zone, day * dayMs)
  days.set(key, offset)
  return offset
}

const ofTable = (table: readonly (readonly [number, number])[], utcMs: number): number => {
  let low = 0
  let high = table.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((table[middle]?.[0] ?? 0) <= utcMs) low = middle + 1
    else high = middle
  }
  return (table[low - 1] ?? table[0])?.[1] ?? 0
}

/** How far the wall clock is ahead of UTC at a moment. */
export const offsetAt = (zone: Zone, utcMs: number): number => {
  if (typeof zone !== 'string') return ofTable(zone, utcMs)
  if (zone === 'UTC' || zone === 'floating') return 0
  const day = Math.floor(utcMs / dayMs)
  const offset = atDay(zone, day)
  return offset === atDay(zone, day + 1) ? offset : lookedUp(zone, utcMs)
}

/** The moments at which a wall clock shows this: none in a gap, two where an hour comes twice. */
export const momentsOf = (zone: Zone, wall: WallMs): readonly number[] => {
  const offsets = new Set([offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)])
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((utc) => utc + offsetAt(zone, utc) === wall)
    .toSorted((a, b) => a - b)
}

/** The moment that is meant: the first of two; in a gap with the offset from before, as RFC 5545 has it. */
export const utcOf = (zone: Zone, wall: WallMs): number =>
  momentsOf(zone, wall)[0] ?? wall - offsetAt(zone, wall - dayMs)

export const wallOf = (zone: Zone, utcMs: number): WallMs => utcMs + offsetAt(zone, utcMs)

/** The zone that a name of a calendar program means; null for one that nobody knows. */
export const knownZone = (tzid: string): string | null => {
  const name = tzid.trim().replace(/^"|"$/g, '')
  if (/^(utc|gmt|z|etc\/utc)$/i.test(name)) return 'UTC'
  if (isZone(name)) return name
  // `/example.org/20070129_1/Europe/Berlin`, as older programs write.
  const tail = /([A-Za-z]+\/[A-Za-z_+-]+(?:\/[A-Za-z_]+)?)$/.exec(name.startsWith('/') ? name : '')
  return tail?.[1] !== undefined && isZone(tail[1]) ? tail[1] : null
}
