/** A time of a record as people read it, in UTC. */
export const shownTime = (timestamp: string | null, none = 'never'): string =>
  timestamp === null ? none : `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)}Z`

/** The local time of this machine, with its day where that is another; nothing where it is UTC. */
function localTime(timestamp: string): string {
  const at = new Date(timestamp)
  if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  const isSameDay = at.getDate() === at.getUTCDate()
  const day = isSameDay ? '' : `${two(at.getMonth() + 1)}-${two(at.getDate())} `
  return `${day}${time}`
}

const besides = (timestamp: string, word: string): string => {
  const local = localTime(timestamp)
  return local === '' ? '' : ` (${local}${word})`
}

/** The local time on its own, for a line that begins with it; nothing where it is UTC. */
export const shownLocal = (timestamp: string | null): string =>
  timestamp === null ? '' : besides(timestamp, ' local').trim()

/** The same with the local time beside it. */
export const shownTimes = (timestamp: string | null, none = 'never'): string =>
  timestamp === null ? none : `${shownTime(timestamp)}${besides(timestamp, ' local')}`

/** The same where a title says which of the two is local. */
export const shownTimesShort = (timestamp: string | null, none = 'never'): string =>
  timestamp === null ? none : `${shownTime(timestamp)}${besides(timestamp, '')}`

/** The time of an event of today, to the millisecond. */
export const shownClock = (timestamp: string): string =>
  `${timestamp.slice(11, 23)}Z${besides(timestamp, ' local')}`

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90m` as a time that long ago; anything else is left for the server to read. */
export function timeAgo(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return text
  return new Date(nowMs - Number(count) * (units[unit] ?? 0) * 1000).toISOString()
}

/** `90m` in seconds; null for what is no duration. */
export function secondsOf(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined || unit === undefined ? null : Number(count) * (units[unit] ?? 0)
}

/** Seconds as `2 d 3 h`, the two largest units. */
export function shownDuration(seconds: number): string {
  const parts: string[] = []
  let left = Math.max(0, Math.floor(seconds))
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    if (left < size && !(unit === 's' && parts.length === 0)) continue
    parts.push(`${Math.floor(left / size)} ${unit}`)
    left %= size
  }
  return parts.slice(0, 2).join(' ')
}
