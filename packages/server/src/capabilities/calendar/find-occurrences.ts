import type { CalendarFacts } from '../../domain/calendar/event.ts'
import { type Occurrence, occurrencesIn, type Range } from '../../domain/calendar/occurrences.ts'
import type { AgentService } from '../../ports/agent-services.ts'
import { eventOf, type FoundEvent, zoneOf } from './account.ts'

const pageEntries = 250
const entriesMax = 5_000
const occurrencesMax = 5_000
/** Steps in all: a calendar of strangers may hold any number of any rules. */
const stepsMax = 150_000
const perEventMax = 1_000

export type FoundOccurrence = FoundEvent & { readonly one: Occurrence }

/** Occurrences that touch a range, the earliest first, from the copy alone. */
export const findOccurrences = async (
  service: AgentService,
  asked: {
    readonly calendars: readonly CalendarFacts[]
    readonly range: Range
    readonly query?: string
    readonly signal: AbortSignal
  },
): Promise<{ readonly found: readonly FoundOccurrence[]; readonly truncated: boolean }> => {
  const { calendars, range, query = '', signal } = asked
  const zone = zoneOf(service)
  const budget = { left: stepsMax }
  const found: FoundOccurrence[] = []
  let truncated = false
  if (calendars.length === 0) return { found, truncated }
  for (let offset = 0; ; offset += pageEntries) {
    signal.throwIfAborted()
    const { entries, total } = await service.query({
      collections: calendars.map(({ path }) => path),
      ...(query.trim() === '' ? {} : { words: query }),
      // Whole days and times without a zone are stored as of the zone of the account.
      since_ms: range.from_ms,
      before_ms: range.to_ms,
      order: 'oldest_first',
      limit: pageEntries,
      offset,
    })
    for (const entry of entries) {
      const event = eventOf(entry)
      const room = Math.min(perEventMax, occurrencesMax - found.length)
      const some = occurrencesIn(event.event, range, zone, budget, room)
      truncated ||= some.truncated
      found.push(...some.occurrences.map((one) => ({ ...event, one })))
    }
    const read = offset + entries.length
    if (read >= total || entries.length === 0) break
    if (read >= entriesMax || budget.left <= 0 || found.length >= occurrencesMax) {
      truncated = true
      break
    }
  }
  const sorted = found.toSorted(
    (a, b) => a.one.start_ms - b.one.start_ms || (a.event.ref < b.event.ref ? -1 : 1),
  )
  return { found: sorted, truncated }
}
