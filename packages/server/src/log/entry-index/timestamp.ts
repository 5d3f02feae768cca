import { GatehouseError } from '@gatehouse/contract'

const iso =
  /^(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?(?:[Tt ](\d{2})(?::?(\d{2})(?::?(\d{2}))?)?(?:[.,](\d{1,12}))?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?$/

const offsetMs = (zone: string | undefined): number => {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || 0)]
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** Of the digits of a fraction of a second. */
const roundedUpMs = (digits: string): number => {
  const fraction = digits.padEnd(3, '0')
  return Number(fraction.slice(0, 3)) + (Number(fraction.slice(3)) > 0 ? 1 : 0)
}

/**
 * The moment as timestamps are stored (UTC, milliseconds), so that text compares as time. A time without
 * a zone is UTC. What is finer than a millisecond rounds up: an entry of that millisecond came earlier.
 */
export const storedTimestamp = (text: string): string => {
  const fail = () =>
    new GatehouseError('InvalidParams', { detail: `"${text}" is not an ISO 8601 timestamp.` })
  const match = iso.exec(text.trim())
  if (!match) throw fail()
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00'] = match
  const ms = roundedUpMs(match[7] ?? '')
  const midnight = new Date(`${year}-${month}-${day}T00:00:00.000Z`)
  // The engine rolls 30 February over into March; we do not.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) throw fail()
  const sinceMidnight = (Number(hour) * 60 + Number(minute)) * 60_000 + Number(second) * 1000 + ms
  if (Number(minute) > 59 || Number(second) > 60 || sinceMidnight > 86_400_000) throw fail()
  const at = new Date(midnight.getTime() + sinceMidnight - offsetMs(match[8]))
  if (at.getUTCFullYear() < 0 || at.getUTCFullYear() > 9999) throw fail()
  return at.toISOString()
}
