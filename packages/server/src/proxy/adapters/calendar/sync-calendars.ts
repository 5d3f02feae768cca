import { GatehouseError } from '@gatehouse/contract'
import { type CalendarFacts, calendarsCollection } from '../../../domain/calendar/event.ts'
import type { ReplicaChange, ReplicaEntry } from '../../../ports/replica.ts'
import type { SyncBatch } from '../../../ports/service-adapter.ts'
import { type CalendarAccount, pathOf } from './calendar-account.ts'
import { type CalendarState, formatCursor, parseCursor } from './cursor.ts'
import { DavFailure } from './dav-client.ts'
import { DavRefusal } from './describe-dav.ts'
import { type FoundCalendar, findCalendars } from './discover.ts'
import { eventEntry, eventOf } from './event-entry.ts'
import { type DavResource, propText } from './multistatus.ts'
import { objectBytesMax } from './objects.ts'
import { escapedXml, XmlInvalid } from './xml.ts'

/** Objects in a batch: reads and stops come between. */
const windowObjects = 50
const removalsMax = 500
const pagesMax = 200
/** How many answers that make no sense are halved, before the server itself is held to be broken. */
const isolationsMax = 64

type Run = {
  readonly account: CalendarAccount
  readonly signal: AbortSignal
  readonly states: Map<string, CalendarState>
  done: number
  total: number
  isolations: number
}

const calendarsEntry = (calendars: readonly FoundCalendar[]): ReplicaEntry => ({
  collection: calendarsCollection,
  id: 'calendars',
  version: '',
  sort_ms: 0,
  until_ms: 0,
  title: '',
  from: '',
  text: '',
  flags: [],
  keys: [],
  body: {
    calendars: calendars.map(
      ({ path, id, name, description, writable }) =>
        ({ path, id, name, description, writable }) satisfies CalendarFacts,
    ),
  },
  size_bytes: 0,
})

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  )

/** Changes in a calendar: paths with their versions, and such that are no more. */
type News = {
  readonly changed: ReadonlyMap<string, string>
  readonly gone: readonly string[]
  readonly state: CalendarState
  /** Whether `changed` is all there is. */
  readonly complete: boolean
}

const pathIn = (run: Run, calendar: FoundCalendar, { href }: DavResource): string | null => {
  const path = pathOf(href, run.account.at(calendar.path))
  // A server tells of what lies in the calendar, and of nothing else.
  return path?.startsWith(calendar.path) && path !== calendar.path ? path : null
}

const isFolder = ({ props }: DavResource): boolean =>
  (props.get('resourcetype')?.children.length ?? 0) > 0

/** By the server's own count of changes (RFC 6578), page by page. */
const askChanges = async (run: Run, calendar: FoundCalendar, since: string): Promise<News> => {
  const changed = new Map<string, string>()
  const gone = new Set<string>()
  let token = since
  for (let page = 0; ; page += 1) {
    const body = `<d:sync-collection xmlns:d="DAV:"><d:sync-token>${escapedXml(token)}</d:sync-token><d:sync-level>1</d:sync-level><d:prop><d:getetag/><d:resourcetype/></d:prop></d:sync-collection>`
    const url = run.account.at(calendar.path)
    const found = await run.account.report(url, body, run.signal)
    let more = false
    for (const resource of found.resources) {
      const path = pathIn(run, calendar, resource)
      if (path === null) more ||= resource.status === 507
      else if (resource.status === 404) {
        changed.delete(path)
        gone.add(path)
      } else if (!isFolder(resource)) {
        gone.delete(path)
        changed.set(path, propText(resource, 'getetag'))
      }
    }
    if (found.sync_token === null) throw new XmlInvalid('it names no sync-token')
    const stands = found.sync_token === token
    token = found.sync_token
    if (!more || stands || page >= pagesMax) break
  }
  const state = { ctag: calendar.ctag, sync_token: token, versions: null }
  return { changed, gone: [...gone], state, complete: since === '' }
}

/** By comparing all versions, where the server counts nothing. */
const compareVersions = async (
  run: Run,
  calendar: FoundCalendar,
  known: CalendarState | undefined,
): Promise<News> => {
  const url = run.account.at(calendar.path)
  const props = '<d:getetag/><d:resourcetype/>'
  const { resources } = await run.account.propfind(url, '1', props, run.signal)
  const versions: Record<string, string> = {}
  for (const resource of resources) {
    const path = pathIn(run, calendar, resource)
    if (path !== null && !isFolder(resource)) versions[path] = propText(resource, 'getetag')
  }
  const before = known?.versions ?? null
  const fresh = Object.entries(versions).filter(([path, version]) => before?.[path] !== version)
  return {
    changed: new Map(fresh),
    gone: before ? Object.keys(before).filter((path) => !(path in versions)) : [],
    state: { ctag: calendar.ctag, sync_token: null, versions },
    complete: before === null,
  }
}

const saidNo = (error: unknown): boolean =>
  error instanceof DavRefusal &&
  error.answer.status >= 400 &&
  error.answer.status < 500 &&
  ![401, 429].includes(error.answer.status)

const newsOf = async (
  run: Run,
  calendar: FoundCalendar,
  known: CalendarState | undefined,
): Promise<News> => {
  if (!calendar.syncs && !calendar.sync_token) return compareVersions(run, calendar, known)
  const token = known?.sync_token ?? ''
  try {
    return await askChanges(run, calendar, token)
  } catch (error) {
    if (!saidNo(error)) throw error
    // The server has forgotten where we were: from the beginning.
    if (token !== '') return newsOf(run, calendar, undefined)
    // The server says that it counts changes, and does not.
    return compareVersions(run, calendar, known)
  }
}

const isBroken = (error: unknown): boolean =>
  error instanceof XmlInvalid || (error instanceof DavFailure && error.code === 'TooLarge')

/** Reads some objects; where an answer makes no sense, the object that makes it so is found by halving. */
const readSome = async (
  run: Run,
  calendar: FoundCalendar,
  paths: readonly string[],
): Promise<ReplicaEntry[]> => {
  const { account, signal } = run
  const hrefs = paths.map((path) => `<d:href>${escapedXml(path)}</d:href>`).join('')
  const body = `<c:calendar-multiget xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/><c:calendar-data/></d:prop>${hrefs}</c:calendar-multiget>`
  try {
    const { resources } = await account.report(account.at(calendar.path), body, signal)
    if (resources.length === 0) throw new XmlInvalid('it tells nothing of what was asked for')
    return resources.flatMap((resource) => {
      const href = pathIn(run, calendar, resource)
      const ics = resource.props.get('calendar-data')?.text ?? ''
      const version = propText(resource, 'getetag').slice(0, 1_000)
      if (href === null || resource.status !== 200 || ics === '' || version === '') return []
      if (ics.length > objectBytesMax) return []
      const event = eventOf(calendar.path, { href, version, ics }, account.zone)
      return event ? [eventEntry(calendar.path, event, account.zone, ics.length)] : []
    })
  } catch (error) {
    run.isolations += 1
    if (!isBroken(error) || run.isolations > isolationsMax) throw error
    if (paths.length > 1) {
      const half = paths.length >> 1
      const entries = [
        ...(await readSome(run, calendar, paths.slice(0, half))),
        ...(await readSome(run, calendar, paths.slice(half))),
      ]
      // Where none of them can be read it is the server that is broken, and what is known of them stays.
      if (entries.length === 0) throw error
      return entries
    }
    const { connection } = account
    connection.log.warn(
      { service: connection.service, path: paths[0] },
      'an event could not be read and was left out',
    )
    return []
  }
}

const progressOf = ({ done, total }: Run) => ({ done, total: Math.max(done, total) })

async function* syncCalendar(
  run: Run,
  calendar: FoundCalendar,
  goesOn: boolean,
): AsyncGenerator<SyncBatch> {
  const { account, states } = run
  const known = states.get(calendar.path)
  // Of what was read of it before nothing is known: a run that was cut off in the middle of it.
  if (!known && goesOn) yield { changes: [], gone: [calendar.path] }
  const news = await account.guarded(() => newsOf(run, calendar, known))
  const { path } = calendar
  const remove = (id: string): ReplicaChange => ({ kind: 'remove', key: { collection: path, id } })
  for (const gone of chunks(news.gone, removalsMax)) yield { changes: gone.map(remove) }
  run.total += news.changed.size
  for (const paths of chunks([...news.changed.keys()], windowObjects)) {
    const entries = await account.guarded(() => readSome(run, calendar, paths))
    const read = new Set(entries.map(({ id }) => id))
    run.done += paths.length
    yield {
      changes: [
        ...entries.map((entry): ReplicaChange => ({ kind: 'put', entry })),
        // No event, or none any more: tasks, notes, and what is beyond reading.
        ...paths.filter((one) => !read.has(one)).map(remove),
      ],
      progress: progressOf(run),
    }
  }
  states.set(path, news.state)
  yield {
    changes: [],
    ...(news.complete ? { complete: [path] } : {}),
    cursor: formatCursor(states, account.zone),
    progress: progressOf(run),
  }
}

const asBefore = (
  { ctag, sync_token }: FoundCalendar,
  state: CalendarState | undefined,
): boolean => {
  if (!state) return false
  if (sync_token !== '' && state.sync_token !== null) return state.sync_token === sync_token
  return ctag !== '' && state.ctag === ctag
}

/** Changes in the calendars since the cursor, calendar by calendar. */
export async function* syncCalendars(
  account: CalendarAccount,
  { cursor }: { readonly cursor: string | null },
  signal: AbortSignal,
): AsyncGenerator<SyncBatch> {
  const parsed = cursor === null ? null : parseCursor(cursor, account.zone)
  const states = new Map(parsed ?? [])
  const calendars = await account.guarded(() => findCalendars(account, signal))
  if (calendars.length === 0)
    throw new GatehouseError('ServiceUnavailable', {
      service: account.connection.service,
      detail: 'the server tells of no calendar that could be read',
    })
  const present = new Set(calendars.map(({ path }) => path))
  const gone = [...states.keys()].filter((path) => !present.has(path))
  for (const path of gone) states.delete(path)
  const run: Run = { account, signal, states, done: 0, total: 0, isolations: 0 }
  yield {
    changes: [{ kind: 'put', entry: calendarsEntry(calendars) }],
    ...(gone.length > 0 ? { gone } : {}),
    cursor: formatCursor(states, account.zone),
  }
  for (const calendar of calendars)
    if (!asBefore(calendar, states.get(calendar.path)))
      yield* syncCalendar(run, calendar, cursor !== null)
}
