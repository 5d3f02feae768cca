import type { ConnectionCheck, ServiceConnection } from '../../../ports/service-adapter.ts'
import { CalendarAccount } from './calendar-account.ts'
import { DavFailure, type DavTimeouts } from './dav-client.ts'
import { DavRefusal, describeDav } from './describe-dav.ts'
import { findCalendars } from './discover.ts'
import { endpointOf } from './settings.ts'

const good = (name: string, detail: string): ConnectionCheck => ({
  name,
  ok: true,
  detail,
  fix: null,
})

/** Looks at the way to the server, its TLS, the login and the calendars, and names what is wrong. */
export const checkConnection = async (
  connection: ServiceConnection,
  timeouts: DavTimeouts,
  signal: AbortSignal,
): Promise<readonly ConnectionCheck[]> => {
  await using account = new CalendarAccount(connection, timeouts)
  const { settings } = account
  const { host, port, security, user } = endpointOf(settings)
  const reached = good(
    'CalDAV connection',
    `${host}:${port} answers${security === 'plain' ? ', without TLS' : ''}`,
  )
  const login = good('CalDAV login', `${user} is logged in`)
  try {
    const calendars = await findCalendars(account, signal)
    const writable = calendars.filter((one) => one.writable).length
    const names = calendars.slice(0, 10).map(({ name }) => name)
    const some = `${calendars.length} calendars, ${writable} of them can be written: ${names.join(', ')}`
    if (calendars.length > 0) return [reached, login, good('Calendars', some)]
    return [
      reached,
      login,
      {
        name: 'Calendars',
        ok: false,
        detail: `${host}:${port} shows no calendar for events at this address`,
        fix: 'Make one in the calendar program, or enter the address of a calendar in url.',
      },
    ]
  } catch (error) {
    const { detail, fix } = describeDav(settings, error)
    const wrong = (name: string): ConnectionCheck => ({
      name,
      ok: false,
      detail,
      fix: fix ?? 'Check the address, or ask whoever runs the server.',
    })
    if (error instanceof DavFailure) return [wrong('CalDAV connection')]
    const noLogin = error instanceof DavRefusal && error.answer.status === 401
    return noLogin ? [reached, wrong('CalDAV login')] : [reached, wrong('Calendars')]
  }
}
