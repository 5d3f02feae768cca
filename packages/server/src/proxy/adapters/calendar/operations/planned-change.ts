import { z } from 'zod'
import { lineOf, parseIcs } from '../../../../domain/calendar/ics.ts'
import { eventsIn, masterOf } from '../../../../domain/calendar/read-event.ts'
import { differencesOf, fieldsOf } from '../../../../domain/calendar/words.ts'
import { sameObject } from '../../../../domain/calendar/write-event.ts'
import type { JsonObject } from '../../../../ports/json.ts'
import type {
  Capture,
  CaptureRefusal,
  ServiceWrite,
  UndoPoint,
} from '../../../../ports/service-adapter.ts'
import type { CalendarAccount } from '../calendar-account.ts'
import { eventOf } from '../event-entry.ts'
import type { CalendarObject } from '../objects.ts'

/** Target of every write: the event, and where it lies. */
export const target = z.object({
  event_id: z.string(),
  calendar: z.string(),
  href: z.string(),
  uid: z.string(),
  title: z.string(),
})
export type Target = z.output<typeof target>

/** The object as it stood, and as it is to be; null for none. One of them is always there. */
const capture = z.object({
  before: z.object({ ics: z.string().nullable(), version: z.string().nullable() }),
  expected: z.object({ href: z.string(), ics: z.string().nullable() }),
})
export type PlannedChange = z.output<typeof capture>

export const plannedChange = (kept: Capture): PlannedChange => capture.parse(kept)
export const targetOf = ({ arguments: args }: Pick<ServiceWrite, 'arguments'>): Target =>
  target.parse(args)

export const refused = (detail: string, fix?: string): CaptureRefusal => ({
  kind: 'refused',
  reason: { detail, ...(fix === undefined ? {} : { fix }) },
})

const modified = (ics: string): string => {
  const master = masterOf(eventsIn(parseIcs(ics)))
  return master === null
    ? ''
    : `${lineOf(master, 'LAST-MODIFIED')?.value ?? ''} ${lineOf(master, 'SEQUENCE')?.value ?? ''}`
}

/**
 * Whether the object that lies there is this one: word for word in any order, or, for servers that add
 * something of their own, written at the very same time and with the same to read.
 */
export const isObject = (
  account: CalendarAccount,
  { calendar }: Target,
  there: CalendarObject | null,
  ics: string | null,
): boolean => {
  if (there === null || ics === null) return there === null && ics === null
  if (sameObject(there.ics, ics)) return true
  const stamp = modified(ics)
  if (stamp.trim() === '' || stamp !== modified(there.ics)) return false
  const read = (text: string) =>
    JSON.stringify(eventOf(calendar, { href: '', version: '', ics: text }, account.zone))
  return read(there.ics) === read(ics)
}

export const resultOf = (found: Target, there: CalendarObject | null, did: string): JsonObject => ({
  did,
  event_id: found.event_id,
  uid: found.uid,
  version: there?.version ?? null,
  href: there?.href ?? found.href,
})

/** Changes by others to the object since, as sentences. */
export const changesSince = (
  account: CalendarAccount,
  { calendar }: Target,
  there: CalendarObject | null,
  left: string | null,
): string[] => {
  if (there === null) return ['the event is not there any more']
  if (left === null) return ['there is an event again in its place']
  const read = (ics: string) => eventOf(calendar, { href: '', version: '', ics }, account.zone)
  const [now, was] = [read(there.ics), read(left)]
  if (!now || !was) return ['it holds something else now']
  const found = differencesOf(fieldsOf(was, account.zone), fieldsOf(now, account.zone))
  return found.length > 0 ? found : ['it was written anew, with other details']
}

/** Where it lies after the write: servers may store under a path of their own. */
export const hrefAfter = ({ result }: UndoPoint, { expected }: PlannedChange): string =>
  typeof result?.['href'] === 'string' ? result['href'] : expected.href
