import type { ConnectService } from '@gatehouse/contract'
import type { JsonObject } from '../../src/ports/json.ts'

export const calendarPath = '/ana/kill/'

/** The calendar `kill` of ana at a server of this machine. */
export const calendarConnect = (url: string): ConnectService => ({
  kind: 'calendar',
  settings: { url: `${url}ana/kill/`, user: 'ana' },
  secrets: { password: 'password-of-ana' },
  agents: ['*'],
})

export const creationOf = (uid: string): JsonObject => ({
  event_id: `event-${uid}`,
  calendar: calendarPath,
  href: `${calendarPath}${uid}.ics`,
  uid,
  title: `Event ${uid}`,
  fields: {
    title: `Event ${uid}`,
    location: '',
    description: '',
    times: { start: 1_774_861_200_000, end: 1_774_864_800_000, zone: 'UTC', all_day: false },
    attendees: [],
    rule: null,
  },
  writing: { at_ms: 1_767_323_045_000, organizer: null },
})
