import { GatehouseError } from '@gatehouse/contract'

export type RemoteUrl = {
  readonly url: string
  /** In lower case, for the scope of a secret. */
  readonly host: string
  /** `host:port`, for the way out. */
  readonly target: string
  /** Without TLS: no login goes there. */
  readonly isPlain: boolean
}

const refuse = (detail: string): GatehouseError => new GatehouseError('UrlNotAllowed', { detail })

const looksLikeSsh = /^(ssh|git\+ssh|ssh\+git):|^[\w.-]+@[\w.-]+:/i

/** `address:port` of targets in the operator's own network: there alone http is taken. */
export type PlainTargets = ReadonlySet<string>

export const noPlainTargets: PlainTargets = new Set()

const portOf = ({ port, protocol }: URL): string =>
  port === '' ? (protocol === 'http:' ? '80' : '443') : port

/**
 * The one form of address that git is given: https, without a login in it, as the URL parser writes it.
 * @SECURITY Transports such as ext:: run a program that the address names; git-attacks.test.ts, G03.
 */
export const parseRemoteUrl = (
  given: string,
  plainTargets: PlainTargets = noPlainTargets,
): RemoteUrl => {
  if (given.length > 2048) throw refuse('it has more than 2048 characters')
  if (/[\p{Cc}\s\\]/u.test(given)) throw refuse('it holds a space, a backslash or a line break')
  if (looksLikeSsh.test(given)) {
    throw refuse('SSH is not used here; give the https address, and a token as a secret')
  }
  if (!/^https?:\/\/[^-/]/i.test(given) || !URL.canParse(given)) {
    throw refuse('a remote is reached by https://host/path only')
  }
  const url = new URL(given)
  if (url.username !== '' || url.password !== '') {
    throw refuse('it holds a login; keep that as a secret and name it in `secret`')
  }
  if (url.search !== '' || url.hash !== '') throw refuse('it has a query or a fragment')
  if (url.pathname === '/' || url.hostname === '') throw refuse('it names no repository')
  const host = url.hostname.toLowerCase()
  const target = `${host}:${portOf(url)}`
  const isPlain = url.protocol === 'http:'
  if (isPlain && !plainTargets.has(target)) {
    throw refuse(
      'http is for servers that the operator listed in outbound.private_targets; use https',
    )
  }
  return { url: url.href, host, target, isPlain }
}
