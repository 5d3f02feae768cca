import { isIP } from 'node:net'
import { z } from 'zod'
import { isZone } from '../../../domain/calendar/zones.ts'

const line = z.string().regex(/^[^\p{Cc}]*$/u, 'one line without control characters')
const hostForm = /^(\*\.)?[a-z0-9.-]+(:\d{1,5})?$/

const parsedUrl = (text: string): URL | null => {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/** Whether a host is this machine: spoken to without TLS, nothing leaves it. */
const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '::1' ||
  (isIP(name) === 4 && name.startsWith('127.'))

/** Settings that an operator enters to connect calendars. The password is no part of it. */
export const calendarSettings = z
  .strictObject({
    url: z
      .string()
      .max(2_000)
      .describe(
        'The address of the CalDAV server, of the account, or of one calendar, such as https://caldav.example.org/.',
      ),
    user: line.min(1).max(254).describe('The user to log in as.'),
    address: z
      .email('an e-mail address such as ana@example.org')
      .max(254)
      .optional()
      .describe('The address in whose name people are invited. Without it nobody is invited.'),
    name: line.max(200).default('').describe('The name that stands beside the address.'),
    time_zone: z
      .string()
      .max(64)
      .default('UTC')
      .refine(isZone, 'a zone such as Europe/Berlin')
      .describe('The zone of times that name none, and of whole days.'),
    hosts: z
      .array(z.string().max(253).toLowerCase().regex(hostForm, 'a host such as *.example.org'))
      .max(20)
      .default([])
      .describe(
        'Further hosts that the server may lead to, and that the password may be sent to; `*.example.org` for all below.',
      ),
    skip_calendars: z
      .array(line.max(1_000))
      .max(200)
      .default([])
      .describe('Names of calendars that are not read.'),
    allow_plain: z
      .boolean()
      .default(false)
      .describe('Allow http:// to another machine: the password is then sent in the clear.'),
    ca_certificate: z
      .string()
      .max(65_536)
      .regex(/-----BEGIN CERTIFICATE-----/, 'a certificate in PEM form')
      .optional()
      .describe('The authority of the server, in PEM form, where it is none of the usual ones.'),
  })
  .superRefine((settings, refuse) => {
    const url = parsedUrl(settings.url)
    const complain = (message: string) =>
      refuse.addIssue({ code: 'custom', path: ['url'], message })
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      complain('an address that begins with https://')
    else if (url.username !== '' || url.password !== '')
      complain('no user or password in it: they have fields of their own')
    else if (url.search !== '' || url.hash !== '') complain('no ? and no # in it')
    else if (url.protocol === 'http:' && !settings.allow_plain && !isLoopback(bareHost(url)))
      complain('http:// would send the password in the clear: use https://, or set allow_plain')
  })
export type CalendarSettings = z.output<typeof calendarSettings>

/** The credentials a calendar account needs. */
export const calendarSecrets = [
  {
    name: 'password',
    description: 'The password of the account, or an app password.',
    required: true,
  },
] as const

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** Where a request goes, in the words of messages about it. */
export const endpointOf = (settings: CalendarSettings, url: URL = new URL(settings.url)) => ({
  host: bareHost(url),
  port: portOf(url),
  security: url.protocol === 'https:' ? ('tls' as const) : ('plain' as const),
  user: settings.user,
})

/**
 * Whether the password may be sent there: the server itself, or what the operator named.
 * @SECURITY A server cannot send the password on to another host; settings.test.ts.
 */
export const mayBeSentTo = (settings: CalendarSettings, url: URL): boolean => {
  const own = new URL(settings.url)
  if (url.origin === own.origin) return true
  // Never down from TLS.
  if (url.protocol !== 'https:') return false
  return settings.hosts.some((entry) => {
    const [name = '', port = '443'] = entry.split(':')
    if (portOf(url) !== Number(port)) return false
    return name.startsWith('*.')
      ? url.hostname.endsWith(name.slice(1)) && url.hostname.length > name.length - 1
      : url.hostname === name
  })
}
