import type { ErrorType } from '@gatehouse/contract'
import { z } from 'zod'
import { isZone } from '../../domain/calendar/zones.ts'
import { ticketFields as heldFields } from '../service-fields.ts'

export { freshnessField } from '../service-fields.ts'

export const version = '1.0'

export const serviceField = z
  .string()
  .max(63)
  .optional()
  .describe('Account. The name of its service; needed only where you may use several.')

export const calendarField = z
  .string()
  .max(200)
  .optional()
  .describe('A calendar, by id or name. As calendar.calendars tells it.')

export const zoneField = z
  .string()
  .max(64)
  .refine(isZone, 'a time zone such as Europe/Berlin')
  .optional()
  .describe('Such as Europe/Berlin. Default: the zone of the account.')

export const eventIdField = z.string().max(200).describe('As calendar.search told it.')

export const occurrenceField = z
  .string()
  .max(40)
  .optional()
  .describe('Of a series: the one occurrence. As calendar.search tells it. Default: all of it.')

export const fromField = z
  .string()
  .max(40)
  .optional()
  .describe('2026-03-30, 2026-03-30T09:00 (of time_zone) or 2026-03-30T09:00:00Z. Default: now.')

export const toField = (usualDays: number, daysMax: number) =>
  z
    .string()
    .max(40)
    .optional()
    .describe(
      `In the same form, excluded. Default: ${usualDays} days after from; at most ${daysMax}.`,
    )

export const ifVersionField = z
  .string()
  .max(1_000)
  .optional()
  .describe('Refuse unless the event is of this version. As calendar.search told it.')

export const writingFields = {
  location: z.string().max(1_000).describe('Where it is.'),
  description: z.string().max(65_536).describe('Further text, plain.'),
  attendees: z.array(z.string().max(400)).max(100).describe('Addresses such as ben@example.net.'),
  recurrence: z
    .string()
    .max(500)
    .describe('A rule of RFC 5545, such as FREQ=WEEKLY;BYDAY=MO,TH;COUNT=10.'),
}

export const titleField = z.string().max(1_000).describe('One line.')
export const startField = z
  .string()
  .max(40)
  .describe('2026-03-30T09:00 (of time_zone), 2026-03-30T07:00:00Z, or 2026-03-30 for whole days.')
export const endField = z
  .string()
  .max(40)
  .optional()
  .describe(
    'In the same form, excluded: for whole days the day after the last. Default: an hour, or a day.',
  )

const person = z.object({ name: z.string(), address: z.string(), answer: z.string() })
export const personField = person.nullable()
export const peopleField = z.array(person)

export const eventShape = {
  event_id: z.string(),
  occurrence: z.string().nullable().describe('Occurrence of a recurring event; null otherwise.'),
  calendar: z.string(),
  title: z.string(),
  start: z.string().describe('UTC; a date for whole days.'),
  end: z.string().describe('UTC, excluded; a date for whole days.'),
  all_day: z.boolean(),
  time_zone: z.string().describe('Where the event has its times from.'),
  local_start: z.string().describe('By the clock of that zone.'),
  local_end: z.string(),
  location: z.string(),
  status: z.string().describe('confirmed, tentative or cancelled.'),
  busy: z.boolean(),
  recurring: z.boolean(),
  attendees: z.int().describe('How many are invited.'),
  version: z.string(),
}

/** Fields of a write that is held back, and of its event. */
export const ticketFields = { ...heldFields, event_id: z.string() }

export const serviceErrors = [
  'ServiceNotFound',
  'ServiceAmbiguous',
  'CalendarNotFound',
  'CalendarRefused',
] as const satisfies readonly ErrorType[]

export const findErrors = [
  ...serviceErrors,
  'EventNotFound',
] as const satisfies readonly ErrorType[]
