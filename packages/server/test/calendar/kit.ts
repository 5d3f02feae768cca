import { silent } from '@gatehouse/server/audit/testing'
import { newEvent } from '@gatehouse/server/domain/calendar/write-event'
import type { ReplicaStore } from '@gatehouse/server/ports/replica'
import type {
  Capture,
  CaptureRefusal,
  JsonObject,
  ServiceConnection,
  ServiceWrite,
} from '@gatehouse/server/ports/service-adapter'
import type { CalendarAccount } from '@gatehouse/server/proxy/adapters/calendar/calendar-account'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { openMemory } from '@gatehouse/server/storage/memory/open'
import { HandClock } from '@gatehouse/testkit'

export const never = new AbortController().signal

/** Short, so that a test of a server that hangs does not; long enough for a machine that is busy. */
export const quickTimeouts = { connectMs: 3_000, idleMs: 4_000, totalMs: 10_000 }

export const plainSettings = (port: number, change: JsonObject = {}): JsonObject => ({
  url: `http://127.0.0.1:${port}/`,
  user: 'ana',
  address: 'ana@example.org',
  name: 'Ana',
  time_zone: 'Europe/Berlin',
  ...change,
})

export const connectionTo = (
  settings: JsonObject,
  password = 'password-of-ana',
): ServiceConnection => ({
  service: 'calendar',
  settings,
  secrets: ['password'],
  secret: (_name, _host, work) => work(password),
  clock: new HandClock(),
  log: silent,
})

/** A calendar object with an event of an hour; further lines go into the event. */
export const icsText = (uid: string, title: string, lines: readonly string[] = []): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Example//Test//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20260101T000000Z',
    ...(lines.some((line) => line.startsWith('DTSTART'))
      ? []
      : ['DTSTART:20260330T070000Z', 'DTEND:20260330T080000Z']),
    `SUMMARY:${title}`,
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')

export const organizer = { name: 'Ana', address: 'ana@example.org' }
export const writing = { at_ms: Date.UTC(2026, 0, 2, 3, 4, 5), organizer }

export const someFields = {
  title: 'Meeting',
  location: 'Room 1',
  description: 'Bring coffee.\nAnd cake; or, milk.',
  times: {
    start: Date.UTC(2026, 2, 30, 9),
    end: Date.UTC(2026, 2, 30, 10),
    zone: 'Europe/Berlin',
    all_day: false,
  },
  attendees: ['ben@example.net'],
  rule: null,
} as const

let numbered = 0

/** A new event as a capability buffers it. */
export const creation = (calendar: string, change: JsonObject = {}): JsonObject => {
  numbered += 1
  const uid = `new-${process.pid}-${numbered}@example.org`
  return {
    event_id: `event-new-${numbered}`,
    calendar,
    href: `${calendar}${encodeURIComponent(uid).replaceAll('%40', '@')}.ics`,
    uid,
    title: someFields.title,
    fields: { ...someFields, attendees: [...someFields.attendees] },
    writing,
    ...change,
  }
}

export const sampleEvent = (uid: string, title: string): string =>
  newEvent(uid, { ...someFields, title }, writing)

/** The adapter with a replica in memory: what the framework does with batches, in a few lines. */
export class CalendarRig implements AsyncDisposable {
  readonly adapter = createCalendarAdapter(quickTimeouts)
  readonly account: CalendarAccount
  readonly replica: ReplicaStore
  cursor: string | null = null
  #run = 0
  /** Whether a run that reads everything has not ended yet. */
  #full = false

  private constructor(account: CalendarAccount, replica: ReplicaStore) {
    this.account = account
    this.replica = replica
  }

  static async open(settings: JsonObject): Promise<CalendarRig> {
    const account = await createCalendarAdapter(quickTimeouts).open(connectionTo(settings))
    return new CalendarRig(account, (await openMemory()).replica)
  }

  /** One whole run; returns how many entries it brought. */
  async sync(batchesMax = Number.POSITIVE_INFINITY): Promise<number> {
    // As the framework: a run that reads everything and was cut off goes on under its number.
    const full = this.#full || this.cursor === null
    if (!this.#full) this.#run += 1
    this.#full = full
    let count = 0
    for await (const batch of this.adapter.sync(this.account, { cursor: this.cursor }, never)) {
      await this.replica.apply('calendar', batch.changes, this.#run)
      if (batch.complete) await this.replica.dropOlder('calendar', batch.complete, this.#run, 1_000)
      if (batch.gone) await this.replica.dropOlder('calendar', batch.gone, this.#run + 1, 1_000)
      if (batch.cursor !== undefined) this.cursor = batch.cursor
      count += batch.changes.filter(({ kind }) => kind === 'put').length
      batchesMax -= 1
      if (batchesMax <= 0) return count
    }
    if (full) await this.replica.dropOlder('calendar', null, this.#run, 1_000)
    this.#full = false
    return count
  }

  async list(collection: string) {
    const query = {
      collections: [collection],
      order: 'oldest_first',
      limit: 1_000,
      offset: 0,
    } as const
    return (await this.replica.query('calendar', query)).entries
  }

  async titles(collection: string): Promise<string[]> {
    return (await this.list(collection)).map(({ title }) => title).toSorted()
  }

  operation(name: string) {
    const found = this.adapter.operations.find((one) => one.name === name)
    if (!found) throw new Error(`no operation ${name}`)
    return found
  }

  write(operation: string, args: JsonObject): ServiceWrite {
    return { id: `wr-${operation}`, operation, agent: 'alpha', arguments: args, files: [] }
  }

  look(write: ServiceWrite): Promise<Capture | CaptureRefusal> {
    return this.operation(write.operation).capture(this.account, write, never)
  }

  async capture(write: ServiceWrite): Promise<Capture> {
    const found = await this.look(write)
    if ('kind' in found) throw new Error(found.reason.detail)
    return JSON.parse(JSON.stringify(found)) as Capture
  }

  execute(write: ServiceWrite, capture: Capture) {
    return this.operation(write.operation).execute(this.account, write, capture, never)
  }

  prove(write: ServiceWrite, capture: Capture) {
    return this.operation(write.operation).prove(this.account, write, capture, never)
  }

  undo(write: ServiceWrite, capture: Capture, result: JsonObject | null = null) {
    return this.operation(write.operation).undo(this.account, { write, capture, result }, never)
  }

  /** An event as a write names it. */
  async existing(collection: string, title: string): Promise<JsonObject> {
    const entry = (await this.list(collection)).find((one) => one.title === title)
    if (!entry) throw new Error(`there is no event ${title}`)
    const { ref = '', href = '', uid = '', version = '' } = entry.body
    return {
      event_id: ref,
      calendar: collection,
      href,
      uid,
      version,
      title,
      occurrence: null,
      writing,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.account[Symbol.asyncDispose]()
  }
}
