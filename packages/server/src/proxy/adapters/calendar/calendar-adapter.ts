import type { ServiceAdapter } from '../../../ports/service-adapter.ts'
import { CalendarAccount } from './calendar-account.ts'
import { checkConnection } from './check-connection.ts'
import { type DavTimeouts, davTimeouts } from './dav-client.ts'
import { createOperation, deleteOperation, updateOperation } from './operations/write-operations.ts'
import { calendarSecrets, calendarSettings } from './settings.ts'
import { syncCalendars } from './sync-calendars.ts'

/** Calendars, by CalDAV. */
export const createCalendarAdapter = (
  timeouts: DavTimeouts = davTimeouts,
): ServiceAdapter<CalendarAccount> => ({
  kind: 'calendar',
  title: 'Calendars (CalDAV)',
  settings: calendarSettings,
  secrets: calendarSecrets,
  sync_every_seconds: 60,
  operations: [createOperation, updateOperation, deleteOperation],
  test: (connection, signal) => checkConnection(connection, timeouts, signal),
  open: async (connection) => new CalendarAccount(connection, timeouts),
  sync: (account, since, signal) => syncCalendars(account, since, signal),
})
