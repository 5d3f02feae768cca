import { GatehouseError } from '@gatehouse/contract'
import type { CalendarAccount } from './calendar-account.ts'
import { pathOf } from './calendar-account.ts'
import { DavRefusal } from './describe-dav.ts'
import { propText } from './multistatus.ts'
import { escapedXml } from './xml.ts'

/** A calendar object as it lies at the server, byte for byte. */
export type CalendarObject = {
  readonly href: string
  readonly version: string
  readonly ics: string
}

export const objectBytesMax = 1_048_576

const refuse = (account: CalendarAccount, detail: string): never => {
  throw new GatehouseError('ServiceUnavailable', { service: account.connection.service, detail })
}

/** Null where there is none. Raises `DavFailure`, `DavRefusal`, `ServiceUnavailable`. */
export const getObject = async (
  account: CalendarAccount,
  href: string,
  signal: AbortSignal,
): Promise<CalendarObject | null> => {
  const answer = await account.send(
    { method: 'GET', url: account.at(href), bytesMax: objectBytesMax },
    signal,
  )
  if (answer.status === 404 || answer.status === 410) return null
  if (answer.status !== 200) throw new DavRefusal(answer)
  const version = answer.headers['etag']?.trim() ?? ''
  if (version === '')
    refuse(account, 'the server gives events no version, so changes of others could be lost')
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { href, version, ics: decoder.decode(answer.body) }
  } catch {
    return refuse(account, 'the event is not written in UTF-8, so it could not be put back exactly')
  }
}

/** Whether the object is to be new, or to be of this version still. */
export type Expected = { readonly version: string } | 'new'

const conditionOf = (expected: Expected): Record<string, string> =>
  expected === 'new' ? { 'if-none-match': '*' } : { 'if-match': expected.version }

/** `stale`: it is not as expected, and nothing was changed. */
export type Changed =
  | { readonly kind: 'changed' }
  | { readonly kind: 'stale' }
  | { readonly kind: 'refused'; readonly error: DavRefusal }

/** Puts an object there, or takes it away for null. Raises `DavFailure`. */
export const changeObject = async (
  account: CalendarAccount,
  {
    href,
    ics,
    expected,
  }: { readonly href: string; readonly ics: string | null; readonly expected: Expected },
  signal: AbortSignal,
): Promise<Changed> => {
  const url = account.at(href)
  const condition = conditionOf(expected)
  const answer = await account.send(
    ics === null
      ? { method: 'DELETE', url, headers: condition }
      : {
          method: 'PUT',
          url,
          headers: { ...condition, 'content-type': 'text/calendar; charset=utf-8' },
          body: ics,
        },
    signal,
  )
  if (answer.status >= 200 && answer.status < 300) return { kind: 'changed' }
  const isGone = ics === null && (answer.status === 404 || answer.status === 410)
  if (answer.status === 412 || isGone) return { kind: 'stale' }
  return { kind: 'refused', error: new DavRefusal(answer) }
}

/** Where an event of this UID lies, for servers that store under paths of their own; null where it is not. */
export const findByUid = async (
  account: CalendarAccount,
  calendar: string,
  uid: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const body = `<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/></d:prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:prop-filter name="UID"><c:text-match collation="i;octet">${escapedXml(uid)}</c:text-match></c:prop-filter></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`
  const url = account.at(calendar)
  const { resources } = await account.report(url, body, signal)
  for (const resource of resources.slice(0, 20)) {
    const path = pathOf(resource.href, url)
    if (path === null || !path.startsWith(calendar) || propText(resource, 'getetag') === '')
      continue
    const object = await getObject(account, path, signal)
    if (object?.ics.includes(uid)) return path
  }
  return null
}
