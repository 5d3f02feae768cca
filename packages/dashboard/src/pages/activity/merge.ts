import type { ActivityEvent } from '@gatehouse/contract'

type Kept = Pick<ActivityEvent, 'id'>

/** Both, newer first, at most so many, and each event once: also one that is among the newer ones twice. */
export function merge<Event extends Kept>(
  newer: readonly Event[],
  older: readonly Event[],
  max: number,
): readonly Event[] {
  const byId = new Map<string, Event>()
  for (const event of [...newer, ...older]) if (!byId.has(event.id)) byId.set(event.id, event)
  return [...byId.values()].slice(0, max)
}
