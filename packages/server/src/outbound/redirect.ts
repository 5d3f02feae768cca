import { GatehouseError } from '@gatehouse/contract'
import { parseUrl } from '../domain/web-address.ts'
import { travelling } from './headers.ts'

export type Hop = {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

const statuses = new Set([301, 302, 303, 307, 308])

const refuse = (detail: string): never => {
  throw new GatehouseError('RedirectRefused', { detail })
}

const targetOf = (location: string, from: URL): URL => {
  try {
    return parseUrl(location, from)
  } catch (cause) {
    const detail = cause instanceof GatehouseError ? String(cause.facts['detail']) : 'no URL'
    return refuse(`the address it leads to cannot be used: ${detail}`)
  }
}

const withoutBody = (hop: Hop): Hop => ({
  ...hop,
  method: hop.method === 'HEAD' ? 'HEAD' : 'GET',
  body: null,
  headers: Object.fromEntries(
    Object.entries(hop.headers).filter(([name]) => !name.startsWith('content-')),
  ),
})

/**
 * Where an answer leads next, or null for one that is the answer itself. Another origin gets neither body nor
 * anything that could be a credential, and nothing but GET or HEAD. Raises `RedirectRefused`.
 */
export const nextHop = (
  hop: Hop,
  answer: { readonly status: number; readonly location: string | readonly string[] | undefined },
  limits: { readonly https_only: boolean },
): Hop | null => {
  const { status, location } = answer
  if (!statuses.has(status) || location === undefined) return null
  if (typeof location !== 'string') return refuse('it names more than one address')
  const url = targetOf(location, hop.url)
  if (url.protocol === 'http:' && (hop.url.protocol === 'https:' || limits.https_only))
    refuse('it leads from https to http')
  const isMoved = (status === 301 || status === 302) && hop.method === 'POST'
  if (url.origin !== hop.url.origin)
    return withoutBody({ ...hop, url, headers: travelling(hop.headers) })
  return status === 303 || isMoved ? withoutBody({ ...hop, url }) : { ...hop, url }
}
