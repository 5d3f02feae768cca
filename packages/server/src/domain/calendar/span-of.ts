import type { Span } from './event.ts'
import type { EventTimes } from './write-event.ts'
import { utcOf } from './zones.ts'

/** Times as an event has them. */
export const spanOf = ({ start, end, zone, all_day }: EventTimes): Span => ({
  start,
  zone: all_day ? 'floating' : zone,
  all_day,
  length_ms: all_day ? end - start : utcOf(zone, end) - utcOf(zone, start),
})
