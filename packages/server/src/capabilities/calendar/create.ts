import { hash, randomUUID } from 'node:crypto'
import type { Preview } from '@gatehouse/contract'
import { z } from 'zod'
import { eventRef } from '../../domain/calendar/event-ref.ts'
import { spanOf } from '../../domain/calendar/span-of.ts'
import { ruleWords, whenWords } from '../../domain/calendar/words.ts'
import { type EventFields, ruleFits } from '../../domain/calendar/write-event.ts'
import type { AgentServices } from '../../ports/agent-services.ts'
import { defineCapability } from '../define.ts'
import { calendarToWrite, openAccount, organizerOf, refuse, ticketOf, zoneOf } from './account.ts'
import { assertText, assertTitle, checkedAttendees, checkedRule } from './checked-fields.ts'
import {
  calendarField,
  endField,
  serviceErrors,
  serviceField,
  startField,
  ticketFields,
  titleField,
  version,
  writingFields,
  zoneField,
} from './fields.ts'
import { eventTimes } from './times.ts'

const inputs = z.strictObject({
  title: titleField,
  start: startField,
  end: endField,
  time_zone: zoneField,
  location: writingFields.location.default(''),
  description: writingFields.description.default(''),
  attendees: writingFields.attendees.default([]),
  recurrence: writingFields.recurrence.optional(),
  calendar: calendarField.describe(
    'Where to put it, by id or name. Needed where there are several.',
  ),
  service: serviceField,
})
type Inputs = z.output<typeof inputs>

const plan = async (services: AgentServices, args: Inputs) => {
  const service = await openAccount(services, args.service)
  const calendar = await calendarToWrite(service, args.calendar)
  const organizer = organizerOf(service)
  assertTitle(args.title)
  assertText('location', args.location)
  assertText('description', args.description)
  const fields: EventFields = {
    title: args.title.trim(),
    location: args.location,
    description: args.description,
    times: eventTimes(args, args.time_zone ?? zoneOf(service)),
    attendees: checkedAttendees(args.attendees, organizer),
    rule: args.recurrence === undefined ? null : checkedRule(args.recurrence),
  }
  if (fields.rule !== null && !ruleFits(fields.rule, fields.times))
    refuse('recurrence: it ends before the first occurrence')
  return { service, calendar, organizer, fields }
}

const lines = (name: string, value: string): string[] => (value === '' ? [] : [`${name}: ${value}`])

const previewOf = ({ service, calendar, fields }: Awaited<ReturnType<typeof plan>>): Preview => ({
  kind: 'command',
  text: [
    `Create in the calendar "${calendar.name}" (${service.name}):`,
    `Title: ${fields.title}`,
    `When: ${whenWords(spanOf(fields.times), zoneOf(service))}`,
    ...(fields.rule === null ? [] : [`Repeats: ${ruleWords(fields.rule)}`]),
    ...lines('Where', fields.location),
    fields.attendees.length === 0 ? 'Invited: nobody' : `Invited: ${fields.attendees.join(', ')}`,
    ...lines('Description', fields.description),
  ].join('\n'),
})

export const create = defineCapability({
  name: 'calendar.create',
  title: 'Create event',
  version,
  purpose: 'Create an event and invite people; can be undone.',
  when_to_use:
    'Check calendar.free_busy first. To change an event use calendar.update. Many servers send invitations to attendees by themselves.',
  inputs,
  outputs: z.object({
    ...ticketFields,
    calendar: z.string(),
    when: z.string().describe('In words, to be checked.'),
  }),
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [
    { what: 'an event in the calendar', reversible: true },
    { what: 'invitations that the server may send', reversible: false },
  ],
  common_patterns: [
    {
      title: 'A meeting',
      arguments: {
        title: 'Budget',
        start: '2026-03-30T09:00',
        end: '2026-03-30T10:00',
        time_zone: 'Europe/Berlin',
        attendees: ['ben@example.net'],
      },
    },
    {
      title: 'A whole day, every year',
      arguments: { title: 'Holiday', start: '2026-05-01', recurrence: 'FREQ=YEARLY' },
    },
  ],
  errors: [...serviceErrors, 'InvalidRecipient', 'QuotaExceeded'],
  preview: async (args, ctx) => previewOf(await plan(ctx.services, args)),
  async resolve(args, ctx) {
    const { service, calendar, organizer, fields } = await plan(ctx.services, args)
    const { path } = calendar
    return { service: service.name, calendar: path, organizer, times: fields.times }
  },
  async run(ctx, args) {
    const { service, calendar, organizer, fields } = await plan(ctx.services, args)
    // Chosen now, so that whatever becomes of an attempt is known again.
    const uid = randomUUID()
    const event_id = eventRef((text) => hash('sha256', text), calendar.path, uid)
    const ticket = await service.buffer({
      operation: 'create',
      arguments: {
        event_id,
        calendar: calendar.path,
        href: `${calendar.path}${uid}.ics`,
        uid,
        title: fields.title,
        fields: { ...fields, attendees: [...fields.attendees] },
        writing: { at_ms: ctx.clock.wall(), organizer },
      },
    })
    return {
      ...ticketOf(ticket, event_id),
      calendar: calendar.id,
      when: whenWords(spanOf(fields.times), zoneOf(service)),
    }
  },
})
