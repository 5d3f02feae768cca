import { z } from 'zod'
import {
  changedEvent,
  type Edited,
  type EventFields,
  newEvent,
  withOccurrence,
  withoutOccurrence,
} from '../../../../domain/calendar/write-event.ts'
import type { CaptureRefusal, ServiceWrite } from '../../../../ports/service-adapter.ts'
import type { CalendarAccount } from '../calendar-account.ts'
import { type CalendarObject, getObject } from '../objects.ts'
import { changeOperation } from './change-operation.ts'
import { type PlannedChange, refused, target } from './planned-change.ts'

const times = z.object({
  start: z.number(),
  end: z.number(),
  zone: z.string(),
  all_day: z.boolean(),
})
const fields = z.object({
  title: z.string(),
  location: z.string(),
  description: z.string(),
  times,
  attendees: z.array(z.string()),
  rule: z.string().nullable(),
})
const writing = z.object({
  at_ms: z.number(),
  organizer: z.object({ name: z.string(), address: z.string() }).nullable(),
})

const creation = target.extend({ fields, writing })
const existing = target.extend({
  version: z.string(),
  /** One of a series: when it would begin by the rule. */
  occurrence: z.number().nullable(),
  writing,
})
const update = existing.extend({ changes: fields.partial() })

const again = 'Read it again with calendar.read, and decide anew.'

/** The event as the agent knew it, or why the write makes no sense any more. */
const asKnown = async (
  account: CalendarAccount,
  args: z.output<typeof existing>,
  signal: AbortSignal,
): Promise<CalendarObject | CaptureRefusal> => {
  const there = await getObject(account, args.href, signal)
  if (!there) return refused(`"${args.title}" is not in the calendar any more`, again)
  return there.version === args.version
    ? there
    : refused(
        `"${args.title}" has changed since: its version is ${there.version} now, and was ${args.version}`,
        again,
      )
}

const planned = (there: CalendarObject, edited: Edited): PlannedChange | CaptureRefusal =>
  edited.kind === 'refused'
    ? refused(`the event cannot be changed: ${edited.detail}`)
    : {
        before: { ics: there.ics, version: there.version },
        expected: { href: there.href, ics: edited.ics },
      }

type Changes = Partial<EventFields>

/** A new event. Its UID was chosen when it was buffered: whatever arrives of it is known again. */
export const createOperation = changeOperation(
  {
    name: 'create',
    did: 'created',
    delay_seconds: 30,
    undo_note: 'The event is deleted again, unless somebody has changed it.',
  },
  async (_account, write: ServiceWrite) => {
    const args = creation.parse(write.arguments)
    return {
      before: { ics: null, version: null },
      expected: { href: args.href, ics: newEvent(args.uid, args.fields, args.writing) },
    }
  },
)

export const updateOperation = changeOperation(
  {
    name: 'update',
    did: 'updated',
    delay_seconds: 30,
    undo_note: 'The event is written back byte for byte, unless somebody has changed it since.',
  },
  async (account, write, signal) => {
    const args = update.parse(write.arguments)
    const there = await asKnown(account, args, signal)
    if ('kind' in there) return there
    const changes = args.changes as Changes
    const { occurrence } = args
    if (occurrence === null) return planned(there, changedEvent(there.ics, changes, args.writing))
    if (!changes.times) return refused('the occurrence has no time')
    const single = { ...changes, times: changes.times }
    return planned(there, withOccurrence(there.ics, occurrence, single, args.writing))
  },
)

export const deleteOperation = changeOperation(
  {
    name: 'delete',
    did: 'deleted',
    delay_seconds: 30,
    undo_note: 'The event is put back byte for byte, unless there is another in its place.',
  },
  async (account, write, signal) => {
    const args = existing.parse(write.arguments)
    const there = await asKnown(account, args, signal)
    if ('kind' in there) return there
    if (args.occurrence !== null)
      return planned(there, withoutOccurrence(there.ics, args.occurrence, args.writing))
    return {
      before: { ics: there.ics, version: there.version },
      expected: { href: there.href, ics: null },
    }
  },
)
