import { GatehouseError } from '@gatehouse/contract'

const refuse = (detail: string): never => {
  throw new GatehouseError('UrlNotAllowed', { detail })
}

const urlLengthMax = 8192
const bracketed = /^\[(.*)\]$/

/** `[::1]` → `::1`. */
export const unbracket = (host: string): string => bracketed.exec(host)?.[1] ?? host

export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** Characters that a URL parser would drop or turn without a word, so that text and target differ. */
const ambiguous = /[\u0000-\u0020\u007f\\]/

/**
 * One meaning for a URL, or `UrlNotAllowed`: http or https, no name or password in it, no fragment, the host
 * in its ASCII form without a final dot, numbers written as addresses.
 */
export const parseUrl = (text: string, base?: URL): URL => {
  if (text.length > urlLengthMax) refuse(`it has more than ${urlLengthMax} characters`)
  if (ambiguous.test(text))
    refuse('it holds a space, a backslash or a control character; write them as %20, %5C and so on')
  let url: URL
  try {
    url = new URL(text, base)
  } catch {
    return refuse('it is not a URL; write it whole, such as https://example.org/path')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    refuse(`it must begin with https:// or http://, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '')
    refuse('it must not hold a name or a password; use network.credentialed_request')
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  if (!isHost(url.hostname)) refuse('its host name has an empty or overlong part')
  url.hash = ''
  return url
}

const isHost = (hostname: string): boolean =>
  bracketed.test(hostname) ||
  (hostname.length <= 253 &&
    hostname.split('.').every((label) => label.length > 0 && label.length <= 63))

/** A bare host as a URL would have it: ASCII, lower case, numbers as addresses, IPv6 without brackets. */
export const parseHost = (text: string): string => {
  if (/[/?#@]/.test(text) || ambiguous.test(text))
    refuse('a host is a name or an address and nothing else')
  // A zone names a link of this machine, and no URL can hold one.
  const host = text.includes(':') && !bracketed.test(text) ? `[${text}]` : text
  if (host.includes('%')) refuse('a host holds no percent sign')
  return unbracket(parseUrl(`https://${host}/`).hostname)
}

/** `host:port`, IPv6 in brackets. Null where it is none. */
export const parseEndpoint = (text: string): { host: string; port: number } | null => {
  const match = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text)
  const port = Number(match?.[2])
  if (!match?.[1] || port < 1 || port > 65_535) return null
  try {
    return { host: parseHost(unbracket(match[1])), port }
  } catch {
    return null
  }
}

/**
 * The one host that arguments lead to, as conditions see it (`host`): of `url`, `host` or `hostname`. Throws
 * where there is none, and where there are several, since a rule could speak of the wrong one.
 */
export const hostIn = (args: Readonly<Record<string, unknown>>): string => {
  const named = ['url', 'host', 'hostname'].filter((name) => Object.hasOwn(args, name))
  const [name = '', ...others] = named
  const value = args[name]
  if (others.length > 0 || typeof value !== 'string')
    throw new Error('the arguments name no host, or more than one')
  return name === 'url' ? unbracket(parseUrl(value).hostname) : parseHost(value)
}
