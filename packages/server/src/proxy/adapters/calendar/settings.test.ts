import { expect, test } from 'vitest'
import { calendarSettings, mayBeSentTo } from './settings.ts'

const settings = calendarSettings.parse({
  url: 'https://caldav.example.org/dav/',
  user: 'ana',
  hosts: ['*.cloud.example', 'other.example:8443'],
})

test.for([
  ['https://caldav.example.org/elsewhere/', true],
  ['https://p01.cloud.example/', true],
  ['https://other.example:8443/', true],
  ['https://other.example/', false],
  ['https://cloud.example/', false],
  ['https://evilcloud.example/', false],
  ['https://p01.cloud.example.evil.example/', false],
  ['https://caldav.example.org:8443/', false],
  ['https://example.org/', false],
  ['http://caldav.example.org/', false],
  ['http://p01.cloud.example/', false],
] as const)('the password goes to the server and to hosts that were named: %s %s', ([url, may]) => {
  expect(mayBeSentTo(settings, new URL(url))).toBe(may)
})
