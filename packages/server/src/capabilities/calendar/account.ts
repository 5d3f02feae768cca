import { GatehouseError } from '@gatehouse/contract'
import {
  type CalendarEvent,
  type CalendarFacts,
  calendarsCollection,
} from '../../domain/calendar/event.ts'
import type { AgentService, AgentServices, WriteTicket } from '../../ports/agent-services.ts'
import type { FoundEntry } from '../../ports/replica.ts'

export const refuse = (detail: string): never => {
  throw new GatehouseError('CalendarRefused', { detail })
}

export const openAccount = (services: AgentServices, name?: string): Promise<AgentService> =>
  services.open('calendar', name)

/** The zone of times that name none. */
export const zoneOf = ({ settings }: AgentService): string =>
  typeof settings['time_zone'] === 'string' ? settings['time_zone'] : 'UTC'

/** In whose name people are invited; null where the operator entered nobody. */
export const organizerOf = ({ settings: { name, address } }: AgentService) =>
  typeof address === 'string' ? { name: typeof name === 'string' ? name : '', address } : null

/** The calendars there are; empty before the first sync. */
export const calendarsOf = async (service: AgentService): Promise<readonly CalendarFacts[]> => {
  const entry = await service.find({ collection: calendarsCollection, id: 'calendars' })
  return (entry?.body['calendars'] ?? []) as unknown as readonly CalendarFacts[]
}

/** Calendars of this id or name; all for none. */
export const namedCalendars = async (
  service: AgentService,
  name: string | undefined,
): Promise<readonly CalendarFacts[]> => {
  const all = await calendarsOf(service)
  if (name === undefined) return all
  const same = (text: string) => text.toLowerCase() === name.toLowerCase()
  const byId = all.filter(({ id }) => id === name)
  const found = byId.length > 0 ? byId : all.filter((one) => same(one.name) || same(one.id))
  if (found.length === 0) throw new GatehouseError('CalendarNotFound', { calendar: name })
  return found
}

/** The one to write to. */
export const calendarToWrite = async (
  service: AgentService,
  name: string | undefined,
): Promise<CalendarFacts> => {
  const found = await namedCalendars(service, name)
  const writable = found.filter((one) => one.writable)
  const [only, ...others] = writable
  if (!only)
    return refuse(
      found.length > 0 ? 'this calendar can only be read' : 'there is no calendar to write to yet',
    )
  if (others.length > 0)
    return refuse(
      `name the calendar by its id: there are ${writable.map((one) => `${one.id} (${one.name})`).join(', ')}`,
    )
  return only
}

export type FoundEvent = {
  readonly event: CalendarEvent
  /** Path of the calendar. */
  readonly collection: string
}

export const eventOf = ({ collection, body }: FoundEntry): FoundEvent => ({
  // Written by the adapter of this very program, which satisfies the type.
  event: body as unknown as CalendarEvent,
  collection,
})

export const findEvent = async (service: AgentService, event_id: string): Promise<FoundEvent> => {
  const entries = await service.findByKey(event_id)
  // The event is found by its UID too; that alone may be in several calendars.
  const entry = entries.find(({ body }) => body['ref'] === event_id)
  if (!entry) throw new GatehouseError('EventNotFound', { event_id })
  return eventOf(entry)
}

export const freshnessOf = ({ name, freshness }: AgentService) => ({
  name,
  status: freshness.status,
  last_sync: freshness.last_sync,
})

export const ticketOf = (ticket: WriteTicket, event_id: string) => {
  const { write_id, status, execute_at, undo_until, undo_note } = ticket
  return { write_id, status, execute_at, undo_until, undo_note, event_id }
}
