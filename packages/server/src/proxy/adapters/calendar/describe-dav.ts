import { GatehouseError } from '@gatehouse/contract'
import { describeFailure, type Failure, saidText } from '../mail/describe-failure.ts'
import { type DavAnswer, DavFailure } from './dav-client.ts'
import { type CalendarSettings, endpointOf } from './settings.ts'
import { XmlInvalid } from './xml.ts'

/** An answer that says no, or nothing that could be meant. */
export class DavRefusal extends Error {
  readonly answer: Pick<DavAnswer, 'status' | 'headers' | 'url'>

  constructor(answer: Pick<DavAnswer, 'status' | 'headers' | 'url'>) {
    super(`it answered ${answer.status}`)
    this.answer = answer
  }
}

/** How long it asks to be left alone; null where it does not say. At most an hour. */
export const retryAfterMs = (header: string | undefined, wallMs: number): number | null => {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - wallMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 3_600_000) : null
}

const words: Readonly<Record<number, readonly [string, string | null]>> = {
  403: ['does not allow it', 'Check what this user may do there.'],
  404: ['knows no such address', 'Check the path of the address.'],
  405: [
    'does not speak CalDAV at this address',
    'Enter the address that the provider gives for CalDAV.',
  ],
  413: ['finds it too large', null],
  429: ['asks to be asked less often', 'It is tried again by itself.'],
  503: ['is busy or being worked on', 'It is tried again by itself.'],
  507: ['has no room left', 'Make room at the server.'],
}

const refusalWords = (settings: CalendarSettings, { answer }: DavRefusal): Failure => {
  const { host, port, user } = endpointOf(settings, answer.url)
  const where = `${host}:${port}`
  if (answer.status === 401)
    return {
      detail: `${where} refused the login of ${user}`,
      fix: 'Check user and password; providers with a second factor want an app password.',
      final: true,
    }
  const known = words[answer.status]
  if (known)
    return { detail: `${where} ${known[0]} (${answer.status})`, fix: known[1], final: false }
  const kind = answer.status >= 500 ? 'failed' : 'answered something that is not understood'
  return { detail: `${where} ${kind} (${answer.status})`, fix: null, final: false }
}

/** Names what is wrong, in words for the person who set it up. Never quotes what was sent. */
export const describeDav = (settings: CalendarSettings, error: unknown): Failure => {
  if (error instanceof DavRefusal) return refusalWords(settings, error)
  const url = error instanceof DavFailure ? error.url : new URL(settings.url)
  const endpoint = endpointOf(settings, url)
  const where = `${endpoint.host}:${endpoint.port}`
  if (error instanceof XmlInvalid)
    return {
      detail: `${where} answered with XML that is not sound: ${error.message}`,
      fix: 'Check that the address is one of a CalDAV server.',
      final: false,
    }
  const code = error instanceof DavFailure ? error.code : ''
  if (code.startsWith('HPE_'))
    return {
      detail: `${where} answers, but not with sound HTTP`,
      fix: 'Check the port, and whether the address begins with https:// or http://.',
      final: false,
    }
  if (/^(EPROTO|ERR_SSL_)/.test(code))
    return {
      detail: `${where} answers, but not with TLS`,
      fix: 'Check the port; the password is never sent in the clear.',
      final: true,
    }
  if (code === 'TooLarge' || code === 'TooManyRedirects' || code === 'NoAddress')
    return { detail: `${where}: ${saidText((error as Error).message)}`, fix: null, final: false }
  // Certificates and connections have the same words for every service.
  return describeFailure(
    error instanceof DavFailure ? { code, message: error.message } : error,
    endpoint,
  )
}

/** The error as it is shown; what is already in our words stays as it is. */
export const unavailable = (
  service: string,
  settings: CalendarSettings,
  error: unknown,
): unknown => {
  if (error instanceof GatehouseError) return error
  const cause = error instanceof DavFailure ? error.cause : error
  if (cause instanceof Error && cause.name === 'AbortError') return cause
  const { detail } = describeDav(settings, error)
  return new GatehouseError('ServiceUnavailable', { service, detail }, { cause: error })
}
