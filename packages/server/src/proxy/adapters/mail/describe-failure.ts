import { GatehouseError } from '@gatehouse/contract'
import type { Endpoint } from './settings.ts'

/** Failure of a mail server, in words for the person who set it up. */
export type Failure = {
  readonly detail: string
  readonly fix: string | null
  /** Whether the server was reached and said no: trying again changes nothing. */
  readonly final: boolean
}

/** Fields that the libraries tell of an error; every one may be missing. */
type Told = {
  readonly code?: unknown
  readonly message?: unknown
  readonly responseText?: unknown
  readonly response?: unknown
  readonly responseCode?: unknown
  readonly authenticationFailed?: unknown
  readonly serverResponseCode?: unknown
  readonly cause?: unknown
}

const certificateCodes: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

// The SMTP library keeps the sentence and replaces the code.
const certificateSentences: readonly (readonly [RegExp, string])[] = [
  [/certificate has expired/i, 'CERT_HAS_EXPIRED'],
  [/certificate is not yet valid/i, 'CERT_NOT_YET_VALID'],
  [/self-signed certificate in certificate chain/i, 'SELF_SIGNED_CERT_IN_CHAIN'],
  [/self-signed certificate/i, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [/unable to (get|verify)/i, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [/does not match certificate's altnames/i, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [/getaddrinfo ENOTFOUND/, 'ENOTFOUND'],
  [/getaddrinfo EAI_AGAIN/, 'EAI_AGAIN'],
  [/ECONNREFUSED/, 'ECONNREFUSED'],
]

const trustFix =
  'Check the host name; for a server with an authority of its own enter that in ca_certificate.'

/** One line of what a server said: it may say anything. */
export const saidText = (value: unknown): string =>
  (typeof value === 'string' ? value : '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .replace(/\.$/, '')

const codeOf = (told: Told): string => {
  if (typeof told.code === 'string') {
    // The libraries wrap what the socket said under codes of their own.
    const inner = told.cause as Told | undefined
    return /^(ESOCKET|ETLS|ECONNECTION|EDNS|NoConnection)$/.test(told.code) &&
      typeof inner?.code === 'string'
      ? inner.code
      : told.code
  }
  return ''
}

const reached: Readonly<Record<string, readonly [string, string]>> = {
  ENOTFOUND: ['there is no host of this name', 'Check the spelling of the host.'],
  EDNS: ['the name of the host could not be looked up', 'Check the host and the name service.'],
  EAI_AGAIN: [
    'the name of the host could not be looked up',
    'Check the network and the name service of this machine.',
  ],
  ECONNREFUSED: ['nobody listens there', 'Check the port, and whether the server runs.'],
  EHOSTUNREACH: ['no way leads to the host', 'Check the network.'],
  ENETUNREACH: ['no way leads to the host', 'Check the network.'],
  ETIMEDOUT: ['no answer came in time', 'Check host, port and firewalls.'],
  ETIMEOUT: ['no answer came in time', 'It is tried again by itself.'],
  CONNECT_TIMEOUT: ['no answer came in time', 'Check host, port and firewalls.'],
  GREETING_TIMEOUT: [
    'it took the connection and said nothing',
    'Check the port and the security: servers that speak TLS from the first byte need `tls`.',
  ],
  UPGRADE_TIMEOUT: ['it did not answer STARTTLS in time', 'Check the port and the security.'],
  ECONNRESET: ['it cut the connection', 'Check the port and the security.'],
  EPIPE: ['it cut the connection', 'It is tried again by itself.'],
  EConnectionClosed: ['it cut the connection', 'It is tried again by itself.'],
  ClosedAfterConnectTLS: ['it cut the connection', 'Check the port and the security.'],
  ClosedAfterConnectText: ['it cut the connection', 'Check the port and the security.'],
  NoConnection: ['it cut the connection', 'It is tried again by itself.'],
  ECONNECTION: ['it cut the connection', 'It is tried again by itself.'],
}

const isAuthentication = (told: Told, code: string): boolean =>
  told.authenticationFailed === true || code === 'EAUTH' || code === 'AUTHENTICATIONFAILED'

/** Words of Gatehouse itself, unlike those of a library, are safe to show. */
const ownWords = ({ facts, message }: GatehouseError): string =>
  typeof facts['detail'] === 'string' ? facts['detail'] : message

/** Names what is wrong. Never quotes anything that was sent, so no password can be in it. */
export const describeFailure = (
  error: unknown,
  { host, port, security, user }: Pick<Endpoint, 'host' | 'port' | 'security' | 'user'>,
): Failure => {
  const where = `${host}:${port}`
  if (error instanceof GatehouseError)
    return { detail: `${where}: ${ownWords(error)}`, fix: null, final: false }
  const told = (typeof error === 'object' && error !== null ? error : {}) as Told
  if (isAuthentication(told, codeOf(told))) {
    const said = saidText(told.responseText ?? told.response)
    return {
      detail: `${where} refused the login of ${user}${said ? `: ${said}` : ''}`,
      fix: 'Check user and password; providers with a second factor want an app password.',
      final: true,
    }
  }
  const message = saidText(told.message)
  const code =
    certificateSentences.find(([sentence]) => sentence.test(message))?.[1] ?? codeOf(told)
  const certificate = certificateCodes[code]
  if (certificate)
    return { detail: `${where} is not trusted: ${certificate}`, fix: trustFix, final: true }
  const known = reached[code]
  if (known) return { detail: `${where}: ${known[0]}`, fix: known[1], final: false }
  if (/wrong version number|packet length too long|SSL|TLS/i.test(`${code} ${message}`))
    return security === 'starttls'
      ? {
          detail: `${where} does not offer STARTTLS, or fails at it`,
          fix: 'Enter `tls` for servers that speak TLS from the first byte; the password is never sent in the clear.',
          final: true,
        }
      : {
          detail: `${where} answers, but not with TLS`,
          fix: 'Check the port; for servers that begin in the clear enter `starttls`.',
          final: true,
        }
  const said = saidText(told.responseText) || saidText(told.response)
  return { detail: `${where}: ${said || 'it failed'}`, fix: null, final: false }
}
