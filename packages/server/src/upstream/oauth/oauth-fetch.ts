import { GatehouseError } from '@gatehouse/contract'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Outbound } from '../../ports/outbound.ts'
import { outboundFetch } from '../outbound-fetch.ts'

const timeoutMs = 30_000
const bodyBytesMax = 1024 * 1024

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)

/** @SECURITY Codes, tokens and people are sent to https alone, or to this machine; oauth-hostile.test.ts. */
export const assertSecure = (upstream: string, url: URL): void => {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return
  throw new GatehouseError('UpstreamLoginRefused', {
    upstream,
    detail: `an address of its authorization server is not https: ${url.origin}`,
  })
}

/** `fetch` for a login: bounded, over the one way out, and encrypted but to the server itself. */
export const oauthFetch = (
  outbound: Outbound,
  { name, url }: { readonly name: string; readonly url: string },
  signal: AbortSignal,
): FetchLike => {
  const { origin } = new URL(url)
  const fetch = outboundFetch(outbound, { credentials: () => ({}), timeoutMs, bodyBytesMax })
  return async (given, init) => {
    const to = new URL(given)
    if (to.origin !== origin) assertSecure(name, to)
    return await fetch(given, { ...init, signal })
  }
}
