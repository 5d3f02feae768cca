import type { CalendarEvent, EventFace, Span } from './event.ts'
import { isRecurring } from './event.ts'
import { type Budget, expandRule } from './expand-rule.ts'
import { parseRule } from './recurrence-rule.ts'
import { utcOf, wallOf, type Zone } from './zones.ts'

const dayMs = 86_400_000
/** Clocks differ by less than this from UTC. */
const marginMs = 2 * dayMs
/** The end of the year 9999. */
export const endlessMs = 253_402_300_799_000

/** From (included) to (excluded). */
export type Range = { readonly from_ms: number; readonly to_ms: number }

export type Occurrence = {
  readonly start_ms: number
  readonly end_ms: number
  /** Occurrence: when it would begin by the rule; null for an event that happens once. */
  readonly occurrence: number | null
  readonly span: Span
  readonly face: EventFace
}

/** `fallback`: the zone of whole days, and of times without one. */
const zoneOf = ({ zone }: Span, fallback: Zone): Zone => (zone === 'floating' ? fallback : zone)

const occurrenceAt = (
  span: Span,
  face: EventFace,
  occurrence: number | null,
  fallback: Zone,
): Occurrence => {
  const zone = zoneOf(span, fallback)
  const start_ms = utcOf(zone, span.start)
  // A day may have 23 hours: whole days end when the wall clock says so.
  const end_ms = span.all_day ? utcOf(zone, span.start + span.length_ms) : start_ms + span.length_ms
  return { start_ms, end_ms, occurrence, span, face }
}

const touches = ({ start_ms, end_ms }: Occurrence, { from_ms, to_ms }: Range): boolean =>
  start_ms < to_ms && (end_ms > from_ms || (end_ms === start_ms && start_ms >= from_ms))

const limitOf = (
  until: { readonly ms: number; readonly utc: boolean; readonly date: boolean } | null,
  zone: Zone,
): number | null =>
  until === null
    ? null
    : until.utc
      ? wallOf(zone, until.ms)
      : until.date
        ? until.ms + dayMs - 1
        : until.ms

export type Found = {
  readonly occurrences: readonly Occurrence[]
  /** Whether there may be more, which were beyond the budget or the limit. */
  readonly truncated: boolean
}

/**
 * The occurrences that touch a range. Costs no more than the budget, whatever the rules say, and never
 * yields more than `most`.
 */
export const occurrencesIn = (
  event: CalendarEvent,
  range: Range,
  fallback: Zone,
  budget: Budget,
  most: number,
): Found => {
  const { span, face } = event
  if (!isRecurring(event) && event.exceptions.length === 0) {
    const only = occurrenceAt(span, face, null, fallback)
    return { occurrences: touches(only, range) ? [only] : [], truncated: false }
  }
  const zone = zoneOf(span, fallback)
  const pointAt = (wall: number): number => (span.all_day ? wall : utcOf(zone, wall))
  const skipped = new Set(event.except)
  const replaced = new Map(event.exceptions.map((one) => [one.instead_of, one]))
  const found: Occurrence[] = []
  const seen = new Set<number>()
  let truncated = false
  const add = (wall: number): boolean => {
    const point = pointAt(wall)
    if (seen.has(point)) return true
    seen.add(point)
    if (skipped.has(point) || replaced.has(point)) return true
    const one = occurrenceAt({ ...span, start: wall }, face, point, fallback)
    if (!touches(one, range)) return true
    if (found.length >= most) {
      truncated = true
      return false
    }
    found.push(one)
    return true
  }
  // The start is one, whether the rule meets it or not.
  add(span.start)
  for (const point of event.dates) if (!add(span.all_day ? point : wallOf(zone, point))) break
  const firstWall = range.from_ms - span.length_ms - marginMs
  const lastWall = range.to_ms + marginMs
  for (const text of event.rules) {
    const rule = parseRule(text)
    if (!rule) continue
    const limit = limitOf(rule.until, zone)
    const end = limit === null ? lastWall : Math.min(limit, lastWall)
    for (const wall of expandRule(rule, span.start, firstWall, end, budget)) {
      budget.left -= 1
      if (wall >= firstWall && !add(wall)) break
    }
    if (budget.left <= 0) truncated = true
  }
  const changed = event.exceptions
    .map(({ instead_of, span: own, face: ownFace }) =>
      occurrenceAt(own, ownFace, instead_of, fallback),
    )
    .filter((one) => touches(one, range))
  const room = most - found.length
  if (changed.length > room) truncated = true
  found.push(...changed.slice(0, room))
  return { occurrences: found.toSorted((a, b) => a.start_ms - b.start_ms), truncated }
}

/** When the first begins and the last ends; without an end it is the year 9999. */
export const extentOf = (event: CalendarEvent, fallback: Zone): Range => {
  const everything = { from_ms: -endlessMs, to_ms: endlessMs }
  const first = occurrenceAt(event.span, event.face, null, fallback)
  const budget: Budget = { left: 20_000 }
  let from_ms = first.start_ms
  let to_ms = first.end_ms
  const endless = event.rules.some((text) => {
    const rule = parseRule(text)
    return rule !== null && rule.count === null && rule.until === null
  })
  const others = occurrencesIn({ ...event, rules: [] }, everything, fallback, budget, 10_000)
  for (const one of others.occurrences) {
    from_ms = Math.min(from_ms, one.start_ms)
    to_ms = Math.max(to_ms, one.end_ms)
  }
  if (endless) return { from_ms, to_ms: endlessMs }
  const zone = zoneOf(event.span, fallback)
  for (const text of event.rules) {
    const rule = parseRule(text)
    if (!rule) continue
    const limit = limitOf(rule.until, zone)
    if (limit !== null) {
      to_ms = Math.max(to_ms, utcOf(zone, limit) + event.span.length_ms + dayMs)
      continue
    }
    let last = event.span.start
    for (const wall of expandRule(rule, event.span.start, event.span.start, null, budget))
      last = wall
    if (budget.left <= 0) return { from_ms, to_ms: endlessMs }
    to_ms = Math.max(to_ms, utcOf(zone, last) + event.span.length_ms + dayMs)
  }
  return { from_ms, to_ms: Math.min(to_ms, endlessMs) }
}
