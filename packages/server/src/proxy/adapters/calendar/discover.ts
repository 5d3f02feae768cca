import type { CalendarFacts } from '../../../domain/calendar/event.ts'
import { shownLine, shownText } from '../../../domain/calendar/ics.ts'
import { type CalendarAccount, type CalendarHome, pathOf } from './calendar-account.ts'
import { DavRefusal } from './describe-dav.ts'
import { type DavResource, propText } from './multistatus.ts'
import { childOf, childrenOf, XmlInvalid } from './xml.ts'

/** A calendar as the server shows it. */
export type FoundCalendar = CalendarFacts & {
  /** Changes whenever something in it does; empty where the server has none. */
  readonly ctag: string
  readonly sync_token: string
  readonly syncs: boolean
}

const calendarsMax = 500

const calendarProps = [
  '<d:resourcetype/><d:displayname/><d:sync-token/><d:supported-report-set/>',
  '<d:current-user-privilege-set/><cs:getctag/><c:supported-calendar-component-set/>',
  '<c:calendar-description/>',
].join('')
const wayProps = '<d:resourcetype/><d:current-user-principal/><c:calendar-home-set/>'

const isCalendar = ({ props }: DavResource): boolean => {
  if (!childOf(props.get('resourcetype'), 'calendar')) return false
  const kinds = props.get('supported-calendar-component-set')
  return (
    kinds === undefined ||
    kinds.children.some(({ attributes }) => /\bname\s*=\s*["']VEVENT["']/i.test(attributes))
  )
}

const mayWrite = ({ props }: DavResource): boolean => {
  const set = props.get('current-user-privilege-set')
  if (!set) return true
  const names = childrenOf(set, 'privilege').flatMap(({ children }) =>
    children.map(({ name }) => name),
  )
  return names.some((name) => ['all', 'write', 'write-content', 'bind'].includes(name))
}

const calendarOf = (resource: DavResource, path: string): Omit<FoundCalendar, 'id'> => ({
  path,
  name: shownLine(propText(resource, 'displayname'), 200) || lastPart(path),
  description: shownText(propText(resource, 'calendar-description'), 2_000),
  writable: mayWrite(resource),
  ctag: propText(resource, 'getctag').slice(0, 1_000),
  sync_token: propText(resource, 'sync-token').slice(0, 4_000),
  syncs: childrenOf(resource.props.get('supported-report-set'), 'supported-report').some(
    (one) => childOf(one, 'report', 'sync-collection') !== null,
  ),
})

const lastPart = (path: string): string =>
  shownLine(decodeURIComponent(path.replace(/\/$/, '').split('/').at(-1) ?? ''), 100) || 'calendar'

/** Names for agents: the last part of the path, made different where two have the same. */
const named = (list: readonly Omit<FoundCalendar, 'id'>[]): FoundCalendar[] => {
  const taken = new Set<string>()
  return list.map((one) => {
    const base = lastPart(one.path)
    let id = base
    for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`
    taken.add(id)
    return { ...one, id }
  })
}

const hrefIn = (resource: DavResource | undefined, name: string): string | null =>
  childOf(resource?.props.get(name), 'href')?.text.trim() ?? null

/** Where the calendars are: at the address itself, or where it leads, as RFC 6764 has it. */
const findHome = async (account: CalendarAccount, signal: AbortSignal): Promise<CalendarHome> => {
  const given = new URL(account.settings.url)
  const look = async (url: URL) => account.propfind(url, '0', wayProps, signal)
  let found: Awaited<ReturnType<typeof look>>
  try {
    found = await look(given)
  } catch (error) {
    const atRoot = given.pathname === '/' || given.pathname === ''
    const refused = error instanceof DavRefusal && error.answer.status !== 401
    if (!atRoot || (!refused && !(error instanceof XmlInvalid))) throw error
    found = await look(new URL('/.well-known/caldav', given))
  }
  for (let step = 0; step < 3; step += 1) {
    const [resource] = found.resources
    if (resource && isCalendar(resource)) return { url: found.url, depth: '0' }
    const home = hrefIn(resource, 'calendar-home-set')
    if (home !== null) return { url: account.client.resolve(home, found.url), depth: '1' }
    const principal = hrefIn(resource, 'current-user-principal')
    if (principal === null) {
      // Some servers answer below a path, and name the principal at the usual place only.
      if (step > 0 || given.pathname !== '/') return { url: found.url, depth: '1' }
      found = await look(new URL('/.well-known/caldav', given))
    } else found = await look(account.client.resolve(principal, found.url))
  }
  return { url: found.url, depth: '1' }
}

/** The calendars that hold events, by path. Raises `DavFailure`, `DavRefusal`, `XmlInvalid`. */
export const findCalendars = async (
  account: CalendarAccount,
  signal: AbortSignal,
): Promise<FoundCalendar[]> => {
  account.home ??= await findHome(account, signal)
  const { home } = account
  let listed: Awaited<ReturnType<CalendarAccount['propfind']>>
  try {
    listed = await account.propfind(home.url, home.depth, calendarProps, signal)
  } catch (error) {
    // The home may have moved: the next time it is looked for.
    account.home = null
    throw error
  }
  const skipped = new Set(account.settings.skip_calendars.map((name) => name.toLowerCase()))
  const found = listed.resources.flatMap((resource) => {
    const path = pathOf(resource.href, listed.url)
    if (path === null || !isCalendar(resource)) return []
    const folder = path.endsWith('/') ? path : `${path}/`
    return [calendarOf(resource, folder)]
  })
  return named(found.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, calendarsMax)).filter(
    ({ id, name }) => !skipped.has(name.toLowerCase()) && !skipped.has(id.toLowerCase()),
  )
}
