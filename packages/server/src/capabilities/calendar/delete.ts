import { z } from 'zod'
import { isRecurring } from '../../domain/calendar/event.ts'
import { fieldsOf } from '../../domain/calendar/words.ts'
import { defineCapability } from '../define.ts'
import { organizerOf, ticketOf, zoneOf } from './account.ts'
import {
  eventIdField,
  findErrors,
  ifVersionField,
  occurrenceField,
  serviceField,
  ticketFields,
  version,
} from './fields.ts'
import { findToWrite, targetOf } from './update.ts'

export const deleteEvent = defineCapability({
  name: 'calendar.delete',
  title: 'Delete event',
  version,
  purpose: 'Delete an event, or one occurrence of a series; can be undone.',
  when_to_use:
    'The call is refused if the event has changed since you read it. Many servers tell attendees by themselves.',
  inputs: z.strictObject({
    event_id: eventIdField,
    occurrence: occurrenceField,
    if_version: ifVersionField,
    service: serviceField,
  }),
  outputs: z.object({ ...ticketFields, title: z.string() }),
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [
    { what: 'an event is gone', reversible: true },
    { what: 'notices that the server may send to attendees', reversible: false },
  ],
  common_patterns: [
    { title: 'Call it off', arguments: { event_id: 'event-0f3c5a7e9b1d2f4a6c8e0b1d' } },
  ],
  errors: [...findErrors, 'EventChanged', 'QuotaExceeded'],
  async preview(args, ctx) {
    const { service, found, calendar, one, occurrence } = await findToWrite(ctx.services, args)
    const { event } = found
    const what =
      occurrence !== null ? 'one occurrence' : isRecurring(event) ? 'every occurrence' : 'the event'
    const fields = fieldsOf({ ...event, span: one.span, face: one.face }, zoneOf(service))
    return {
      kind: 'command',
      text: [
        `Delete ${what} in the calendar "${calendar}" (${service.name}):`,
        ...fields.flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`])),
      ].join('\n'),
    }
  },
  async resolve(args, ctx) {
    const { service, found, occurrence } = await findToWrite(ctx.services, args)
    const { ref, version: at } = found.event
    return { service: service.name, event_id: ref, version: at, occurrence }
  },
  async run(ctx, args) {
    const { service, found, one, occurrence } = await findToWrite(ctx.services, args)
    const ticket = await service.buffer({
      operation: 'delete',
      arguments: {
        ...targetOf(found, one.face.title),
        occurrence,
        writing: { at_ms: ctx.clock.wall(), organizer: organizerOf(service) },
      },
    })
    return { ...ticketOf(ticket, found.event.ref), title: one.face.title }
  },
})
