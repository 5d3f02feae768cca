import { GatehouseError, type Preview } from '@gatehouse/contract'
import { z } from 'zod'
import type { CalendarEvent } from '../../domain/calendar/event.ts'
import { isRecurring } from '../../domain/calendar/event.ts'
import type { Occurrence } from '../../domain/calendar/occurrences.ts'
import { spanOf } from '../../domain/calendar/span-of.ts'
import { diffText, fieldsOf, whenWords } from '../../domain/calendar/words.ts'
import { type EventFields, type EventTimes, ruleFits } from '../../domain/calendar/write-event.ts'
import { wallOf } from '../../domain/calendar/zones.ts'
import type { AgentServices } from '../../ports/agent-services.ts'
import type { JsonObject } from '../../ports/json.ts'
import { defineCapability } from '../define.ts'
import {
  calendarsOf,
  type FoundEvent,
  findEvent,
  openAccount,
  organizerOf,
  refuse,
  ticketOf,
  zoneOf,
} from './account.ts'
import { assertText, assertTitle, checkedAttendees, checkedRule } from './checked-fields.ts'
import {
  endField,
  eventIdField,
  findErrors,
  ifVersionField,
  occurrenceField,
  serviceField,
  startField,
  ticketFields,
  titleField,
  version,
  writingFields,
  zoneField,
} from './fields.ts'
import { theOccurrence } from './shown-event.ts'
import { eventTimes, movedTimes } from './times.ts'

const inputs = z.strictObject({
  event_id: eventIdField,
  occurrence: occurrenceField,
  title: titleField.optional(),
  start: startField.optional(),
  end: endField.describe('In the form of start, excluded. Default: as long as before.'),
  time_zone: zoneField.describe('Of start and end. Default: the zone of the event.'),
  location: writingFields.location.optional(),
  description: writingFields.description.optional(),
  attendees: writingFields.attendees
    .optional()
    .describe('Everybody who is to be invited: who is not named here is not invited any more.'),
  recurrence: writingFields.recurrence
    .nullable()
    .optional()
    .describe('A rule of RFC 5545; null: only once from now on.'),
  if_version: ifVersionField,
  service: serviceField,
})
type Inputs = z.output<typeof inputs>

/** Refuses what is not as the agent knew it. */
export const assertVersion = (event: CalendarEvent, if_version: string | undefined): void => {
  if (if_version !== undefined && if_version !== event.version)
    throw new GatehouseError('EventChanged', {
      event_id: event.ref,
      version: event.version,
      expected: if_version,
    })
}

/** An event that can be written, with the occurrence that is meant; null for all of it. */
export const findToWrite = async (
  services: AgentServices,
  args: Pick<Inputs, 'event_id' | 'occurrence' | 'if_version' | 'service'>,
) => {
  const service = await openAccount(services, args.service)
  const found = await findEvent(service, args.event_id)
  assertVersion(found.event, args.if_version)
  const calendar = (await calendarsOf(service)).find(({ path }) => path === found.collection)
  if (calendar?.writable === false) refuse('this calendar can only be read')
  const one = theOccurrence(found, args.occurrence, zoneOf(service))
  return {
    service,
    found,
    calendar: calendar?.name ?? found.collection,
    one,
    occurrence: args.occurrence === undefined ? null : one.occurrence,
  }
}

export const targetOf = ({ event, collection }: FoundEvent, title: string) => ({
  event_id: event.ref,
  calendar: collection,
  href: event.href,
  uid: event.uid,
  version: event.version,
  title,
})

/** When it is to be, as far as the agent says so; the rest is as it was. */
const timesOf = (args: Inputs, one: Occurrence, fallback: string): EventTimes | undefined => {
  const { start, end, time_zone } = args
  const { span } = one
  if (start === undefined && end === undefined)
    return time_zone === undefined
      ? undefined
      : refuse('time_zone says in which zone start and end are: give start, too')
  const own = typeof span.zone === 'string' && span.zone !== 'floating' ? span.zone : fallback
  const zone = time_zone ?? own
  if (start === undefined) {
    const from = span.all_day
      ? new Date(span.start).toISOString().slice(0, 10)
      : new Date(one.start_ms).toISOString()
    return eventTimes({ start: from, end }, zone)
  }
  if (end !== undefined) return eventTimes({ start, end }, zone)
  const dates = /^\d{4}-\d{2}-\d{2}$/.test(start.trim())
  return dates === span.all_day
    ? movedTimes(start, zone, span.length_ms)
    : eventTimes({ start }, zone)
}

const sameTimes = (times: EventTimes, { span }: Occurrence): boolean => {
  const next = spanOf(times)
  return (
    next.start === span.start &&
    next.length_ms === span.length_ms &&
    next.all_day === span.all_day &&
    (next.all_day || next.zone === span.zone)
  )
}

type Changes = { -readonly [K in keyof EventFields]?: EventFields[K] }

type Given = {
  readonly zone: string
  readonly organizer: { readonly address: string } | null
}

const textChanges = (args: Inputs, { truncated }: CalendarEvent, { face }: Occurrence): Changes => {
  const changes: Changes = {}
  if (args.title !== undefined) {
    assertTitle(args.title)
    if (args.title.trim() !== face.title) changes.title = args.title.trim()
  }
  for (const name of ['location', 'description'] as const) {
    const text = args[name]
    if (text === undefined) continue
    assertText(name, text)
    if (text !== face[name] || truncated) changes[name] = text
  }
  return changes
}

const attendeeChanges = ({ attendees }: Inputs, { face }: Occurrence, given: Given): Changes => {
  if (!attendees) return {}
  const wanted = checkedAttendees(attendees, given.organizer ?? face.organizer)
  const key = (list: readonly string[]) =>
    list
      .map((address) => address.toLowerCase())
      .toSorted()
      .join()
  const there = face.attendees.map(({ address }) => address)
  const differ = key(wanted) !== key(there) || face.attendees_total > there.length
  return differ ? { attendees: wanted } : {}
}

const ruleChanges = (
  { recurrence }: Inputs,
  { rules }: CalendarEvent,
  times: EventTimes | undefined,
): Changes => {
  if (recurrence === undefined) return {}
  const rule = recurrence === null ? null : checkedRule(recurrence)
  if (rule !== null && times && !ruleFits(rule, times))
    refuse('recurrence: it ends before the first occurrence')
  const same = rule === null ? rules.length === 0 : rules.length === 1 && rules[0] === rule
  return same ? {} : { rule }
}

const changesOf = (args: Inputs, event: CalendarEvent, one: Occurrence, given: Given): Changes => {
  const times = timesOf(args, one, given.zone)
  return {
    ...textChanges(args, event, one),
    ...(times && !sameTimes(times, one) ? { times } : {}),
    ...attendeeChanges(args, one, given),
    ...ruleChanges(args, event, times),
  }
}

const plan = async (services: AgentServices, args: Inputs) => {
  const target = await findToWrite(services, args)
  const { service, found, one, occurrence } = target
  const { event } = found
  if (occurrence !== null && args.recurrence !== undefined)
    refuse('a single occurrence has no recurrence of its own')
  const organizer = organizerOf(service)
  const changes = changesOf(args, event, one, { zone: zoneOf(service), organizer })
  if (Object.keys(changes).length === 0) refuse('nothing would change: the event is so already')
  // A single occurrence is written with its own time, whether that changes or not.
  if (occurrence !== null && !changes.times) changes.times = ownTimes(one, zoneOf(service))
  return { ...target, changes, organizer }
}

const ownTimes = ({ span, start_ms, end_ms }: Occurrence, fallback: string): EventTimes => {
  if (span.all_day)
    return { start: span.start, end: span.start + span.length_ms, zone: 'UTC', all_day: true }
  const zone =
    typeof span.zone !== 'string' ? 'UTC' : span.zone === 'floating' ? fallback : span.zone
  return { start: wallOf(zone, start_ms), end: wallOf(zone, end_ms), zone, all_day: false }
}

type Planned = Awaited<ReturnType<typeof plan>>

/** The event as it would be afterwards. */
const after = ({ found, one, changes }: Planned) => {
  const { face } = one
  const { title, location, description, times, attendees, rule } = changes
  const invited = attendees?.map(
    (address) =>
      face.attendees.find((each) => each.address.toLowerCase() === address.toLowerCase()) ?? {
        ...{ name: '', address, answer: 'needs-action' },
      },
  )
  return {
    span: times ? spanOf(times) : one.span,
    zone_name: times ? times.zone : found.event.zone_name,
    rules: rule === undefined ? found.event.rules : rule === null ? [] : [rule],
    face: {
      ...face,
      title: title ?? face.title,
      location: location ?? face.location,
      description: description ?? face.description,
      attendees: invited ?? face.attendees,
    },
  }
}

const previewOf = (planned: Planned): Preview => {
  const { service, found, one, calendar, occurrence } = planned
  const zone = zoneOf(service)
  const { event } = found
  const before = fieldsOf({ ...event, span: one.span, face: one.face }, zone)
  const what =
    occurrence !== null
      ? 'one occurrence of'
      : isRecurring(event)
        ? 'every occurrence of'
        : 'the event'
  return {
    kind: 'diff',
    text: [
      `Change ${what} "${one.face.title}" in the calendar "${calendar}" (${whenWords(one.span, zone, event.zone_name)}):`,
      diffText(before, fieldsOf(after(planned), zone)),
    ].join('\n'),
  }
}

export const update = defineCapability({
  name: 'calendar.update',
  title: 'Update event',
  version,
  purpose: 'Change fields of an event; the others stay. Can be undone.',
  when_to_use:
    'The call is refused if the event has changed since you read it; then read it again. Many servers tell attendees of changes by themselves.',
  inputs,
  outputs: z.object({ ...ticketFields, changed: z.array(z.string()) }),
  tier: 'approval_required',
  effect: 'buffered',
  reach: 'open',
  side_effects: [
    { what: 'an event is another', reversible: true },
    { what: 'notices that the server may send to attendees', reversible: false },
  ],
  common_patterns: [
    {
      title: 'Move it, as long as before',
      arguments: { event_id: 'event-0f3c5a7e9b1d2f4a6c8e0b1d', start: '2026-03-31T09:00' },
    },
    {
      title: 'Rename one occurrence of a series',
      arguments: {
        event_id: 'event-0f3c5a7e9b1d2f4a6c8e0b1d',
        occurrence: '2026-04-06T07:00:00.000Z',
        title: 'Budget, with Ben',
      },
    },
  ],
  errors: [...findErrors, 'EventChanged', 'InvalidRecipient', 'QuotaExceeded'],
  preview: async (args, ctx) => previewOf(await plan(ctx.services, args)),
  async resolve(args, ctx) {
    const { service, found, occurrence, organizer, changes } = await plan(ctx.services, args)
    const { ref, version: at } = found.event
    const { times = null } = changes
    return { service: service.name, event_id: ref, version: at, occurrence, organizer, times }
  },
  async run(ctx, args) {
    const { service, found, one, occurrence, changes, organizer } = await plan(ctx.services, args)
    const changed = Object.keys(changes)
    const ticket = await service.buffer({
      operation: 'update',
      arguments: {
        ...targetOf(found, one.face.title),
        occurrence,
        changes: changes as unknown as JsonObject,
        writing: { at_ms: ctx.clock.wall(), organizer },
      },
    })
    return { ...ticketOf(ticket, found.event.ref), changed }
  },
})
